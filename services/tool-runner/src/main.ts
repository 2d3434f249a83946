import 'reflect-metadata';
import { runService } from '@nightshift/bus';
import { loadConfig } from '@nightshift/config';
import { runnerSettings } from './config';
import { runnerOptions } from './options';
import { Presence } from './presence/presence';

void runService(() => runnerOptions(loadConfig(runnerSettings))).then((running) => running.get(Presence).start());
