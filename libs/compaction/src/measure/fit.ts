import { toBinary } from '@bufbuild/protobuf';
import { transcript } from '@nightshift/contracts';

/** What a request needs, beside tokens: a provider limits each of these on its own. */
export interface FitVector {
  readonly tokens: number;
  readonly bytes: number;
  readonly images: number;
  /** Longest edge of any image, in pixels. */
  readonly longestEdge: number;
  readonly output: number;
}

export type FitLimits = Partial<FitVector>;

/** Bytes of a view: images as base64, the rest as it is encoded. */
export function fitVector(view: transcript.View, tokens: number, output = 0): FitVector {
  let images = 0;
  let longestEdge = 0;
  let imageBytes = 0;
  for (const image of imagesOf(view)) {
    images++;
    imageBytes += image.data.length;
    longestEdge = Math.max(longestEdge, image.width, image.height);
  }
  const bytes = toBinary(transcript.ViewSchema, view).length + Math.ceil(imageBytes / 3);
  return { tokens, bytes, images, longestEdge, output };
}

/** The names of the limits that a request exceeds; empty = it fits. */
export function overLimits(vector: FitVector, limits: FitLimits): (keyof FitVector)[] {
  return (Object.keys(limits) as (keyof FitVector)[]).filter((name) => {
    const limit = limits[name];
    return limit !== undefined && limit > 0 && vector[name] > limit;
  });
}

export function* imagesOf(view: transcript.View): Generator<transcript.Image> {
  for (const message of view.messages) {
    if (message.body.case === 'user') yield* imagesIn(message.body.value.parts);
    if (message.body.case !== 'toolResults') continue;
    for (const result of message.body.value.results) yield* imagesIn(result.parts);
  }
}

function* imagesIn(parts: readonly transcript.Part[]): Generator<transcript.Image> {
  for (const part of parts) if (part.kind.case === 'image') yield part.kind.value;
}
