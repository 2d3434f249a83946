import { Controller } from '@nestjs/common';
import { Ctx, MessagePattern, Payload } from '@nestjs/microservices';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { BusContext } from '@nightshift/bus';
import { isNightshiftError, routes, tool } from '@nightshift/contracts';
import { findBeneath } from '../files/beneath';
import { readWhole, sha256 } from '../files/contents';
import { isBinary } from '../files/text';
import { Runner } from '../runner';
import { CloseWorkspaces } from './close-workspaces';
import { readRules } from './rules';

@Controller()
export class WorkspaceHandlers {
  constructor(
    private readonly runner: Runner,
    private readonly closing: CloseWorkspaces,
  ) {}

  @MessagePattern(routes.workspaceOpen.subject)
  async open(
    @Payload() request: tool.WorkspaceOpenRequest,
    @Ctx() context: BusContext,
  ): Promise<MessageInitShape<typeof tool.WorkspaceOpenReplySchema>> {
    const { record } = await this.runner.workspaces.open(context.team, request, Date.now(), context.signal);
    const { sandboxed, reason } = this.runner.sandbox;
    const rules = await readRules(record.path);
    return { path: record.path, mode: record.mode, baseCommit: record.baseCommit, rules, sandboxed, sandboxReason: reason };
  }

  @MessagePattern(routes.workspaceRead.subject)
  async read(
    @Payload() request: tool.WorkspaceReadRequest,
    @Ctx() context: BusContext,
  ): Promise<MessageInitShape<typeof tool.WorkspaceReadReplySchema>> {
    const { record } = await this.runner.workspaces.get(context.team, request.workspaceId);
    const most = Math.min(request.maxBytesPerFile || maxBytesPerFile, maxBytesPerFile);
    return { files: await Promise.all(request.paths.slice(0, maxFiles).map((path) => readText(record.path, path, most))) };
  }

  @MessagePattern(routes.workspaceDiff.subject)
  async diff(
    @Payload() request: tool.WorkspaceDiffRequest,
    @Ctx() context: BusContext,
  ): Promise<MessageInitShape<typeof tool.WorkspaceDiffReplySchema>> {
    return this.runner.workspaces.diff(context.team, request.workspaceId, context.signal);
  }

  @MessagePattern(routes.workspaceClose.subject)
  close(
    @Payload() request: tool.WorkspaceCloseRequest,
    @Ctx() context: BusContext,
  ): Promise<MessageInitShape<typeof tool.WorkspaceCloseReplySchema>> {
    return this.closing.close(context.team, request.workspaceId, request.keep);
  }
}

const maxBytesPerFile = 256 * 1024;
const maxFiles = 50;

/** A file that is missing, outside or not text is `unreadable`: the reader shows it as such and goes on. */
async function readText(tree: string, path: string, most: number): Promise<tool.WorkspaceFile> {
  try {
    const place = findBeneath(tree, path);
    try {
      const content = await readWhole(place);
      if (!content || isBinary(content)) return create(tool.WorkspaceFileSchema, { path, unreadable: true });
      const shown = new TextDecoder('utf-8').decode(content.subarray(0, most), { stream: content.length > most });
      return create(tool.WorkspaceFileSchema, { path, content: shown, totalBytes: content.length, sha256: sha256(content) });
    } finally {
      place.close();
    }
  } catch (error) {
    if (!isNightshiftError(error)) throw error;
    return create(tool.WorkspaceFileSchema, { path, unreadable: true });
  }
}
