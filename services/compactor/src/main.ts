import 'reflect-metadata';
import { runService } from '@nightshift/bus';
import { loadConfig } from '@nightshift/config';
import { settings } from './config';
import { compactorOptions } from './options';

void runService(() => compactorOptions(loadConfig(settings)));
