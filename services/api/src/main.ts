import 'reflect-metadata';
import { runService } from '@nightshift/bus';
import { apiService } from './api.service';
import { readConfig } from './config';

void runService(() => apiService(readConfig()));
