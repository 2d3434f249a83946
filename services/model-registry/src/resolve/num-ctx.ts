export interface NumCtxFigures {
  /** Of the team or of nightshift.yaml. */
  override?: number;
  modelfile?: number;
  /** Read from /api/ps when the model was last loaded. */
  served?: number;
  trainedMax?: number;
}

/**
 * The `num_ctx` to send to Ollama: override › Modelfile › what was served before; undefined = leave it out. Constant per
 * model on purpose: each other value makes the server load the model again.
 */
export function numCtx(figures: NumCtxFigures): number | undefined {
  const chosen = figures.override ?? figures.modelfile ?? figures.served;
  if (chosen === undefined) return undefined;
  // The server clamps to what the model was trained for; sending more only makes the figures differ.
  return figures.trainedMax === undefined ? chosen : Math.min(chosen, figures.trainedMax);
}
