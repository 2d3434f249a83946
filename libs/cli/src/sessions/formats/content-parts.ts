import { z } from 'zod';

const text = z.looseObject({ text: z.string() });
const base64 = z.looseObject({ source: z.looseObject({ type: z.literal('base64'), media_type: z.string(), data: z.string() }) });
const inline = z.looseObject({ data: z.string(), mimeType: z.string() });
const url = z.looseObject({ image_url: z.union([z.string(), z.looseObject({ url: z.string() })]) });

type PartInit = string | { mediaType: string; base64: string };

/** Content as the different agents write it: a string, or a list of text and image blocks. Anything else is kept as its JSON. */
export function contentParts(content: unknown): PartInit[] {
  if (content === null || content === undefined) return [];
  if (typeof content === 'string') return [content];
  if (!Array.isArray(content)) return [JSON.stringify(content)];
  return content.map((block: unknown): PartInit => {
    if (typeof block === 'string') return block;
    const asText = text.safeParse(block);
    if (asText.success) return asText.data.text;
    const asBase64 = base64.safeParse(block);
    if (asBase64.success) return { mediaType: asBase64.data.source.media_type, base64: asBase64.data.source.data };
    const asInline = inline.safeParse(block);
    if (asInline.success) return { mediaType: asInline.data.mimeType, base64: asInline.data.data };
    const asUrl = url.safeParse(block);
    if (asUrl.success) return dataUrl(typeof asUrl.data.image_url === 'string' ? asUrl.data.image_url : asUrl.data.image_url.url);
    return JSON.stringify(block);
  });
}

/** Only data URLs hold the image; an address is never opened, it stays text. */
function dataUrl(address: string): PartInit {
  const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(address) ?? [];
  return mediaType && data ? { mediaType, base64: data } : `[image at ${address}]`;
}
