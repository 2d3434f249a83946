export async function verifyReport(_file: string | undefined, _stateDir: string, _say: (line: string) => void): Promise<number> {
  return 1;
}
