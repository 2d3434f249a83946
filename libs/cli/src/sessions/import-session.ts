import type { transcript } from '@nightshift/contracts';
import { importAtif } from './formats/atif';
import { importClaudeCode } from './formats/claude-code';
import { importCodex } from './formats/codex';
import { importGeminiCli } from './formats/gemini-cli';
import { importLangGraph } from './formats/langgraph';
import { importOpenAiChat } from './formats/openai-chat';
import { importPi } from './formats/pi';
import { importSweAgent } from './formats/swe-agent';
import type { SessionBuilder } from './builder';
import { recognise } from './recognise';
import { readRecords, type SessionFile } from './records';
import { SessionFault, type Session, type SessionFormat } from './session';

type Importer = (source: SessionFile) => { session: SessionBuilder; tools: transcript.ToolSchema[] };
const withoutTools =
  (importer: (source: SessionFile) => SessionBuilder): Importer =>
  (source) => ({ session: importer(source), tools: [] });

const importers: Readonly<Record<SessionFormat, Importer>> = {
  'claude-code': withoutTools(importClaudeCode),
  codex: withoutTools(importCodex),
  'gemini-cli': withoutTools(importGeminiCli),
  pi: withoutTools(importPi),
  'swe-agent': withoutTools(importSweAgent),
  'openai-chat': importOpenAiChat,
  langgraph: withoutTools(importLangGraph),
  atif: withoutTools(importAtif),
};

/**
 * Reads a session file of another agent; the format is recognised by itself.
 * @param file its name, for messages. @param text its content.
 * Throws SessionFault with file, line and what was expected.
 */
export function importSession(file: string, text: string): Session {
  const source = readRecords(file, text);
  const format = recognise(source);
  const { session, tools } = importers[format](source);
  const entries = session.entries();
  if (entries.length === 0) throw new SessionFault(file, 1, `expected messages; this ${format} session has none`);
  return { format, system: session.system, tools, entries, warnings: [...source.warnings, ...session.warnings] };
}
