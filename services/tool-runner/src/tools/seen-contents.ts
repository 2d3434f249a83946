/** Bytes of file contents that are remembered to tell what changed. */
const maxBytes = 32 * 1024 * 1024;
const maxFileBytes = 512 * 1024;

/**
 * Contents by hash, least recently used out first. Only for a better message: an edit of a file that changed meanwhile is
 * refused with or without it.
 */
export class SeenContents {
  private readonly texts = new Map<string, string>();
  private bytes = 0;

  remember(sha256: string, text: string): void {
    if (text.length > maxFileBytes) return;
    this.forget(sha256);
    this.texts.set(sha256, text);
    this.bytes += text.length;
    for (const oldest of this.texts.keys()) {
      if (this.bytes <= maxBytes) break;
      this.forget(oldest);
    }
  }

  get(sha256: string): string | undefined {
    const text = this.texts.get(sha256);
    if (text !== undefined) {
      this.texts.delete(sha256);
      this.texts.set(sha256, text);
    }
    return text;
  }

  private forget(sha256: string): void {
    const text = this.texts.get(sha256);
    if (text === undefined) return;
    this.texts.delete(sha256);
    this.bytes -= text.length;
  }
}
