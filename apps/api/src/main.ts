import 'reflect-metadata';
import { servesItself } from '@laddercast/platform';

// One that watches over others loads nothing of what they do.
if (await servesItself('api')) await import('./serve.js');
