export { WindowReader } from './window-reader';
export type { WatchableBuckets } from './window-reader';
export { WindowsModule } from './windows.module';
export { WindowTable, unknownWindow } from './window-table';
export type { BucketChange } from './window-table';
export { windowBucket, seededKey, windowKey, parseWindowKey } from './window-keys';
export type { WindowName } from './window-keys';
