import 'reflect-metadata';
import { runService } from '@nightshift/bus';
import { serviceOptions } from './service-options';

void runService(() => serviceOptions());
