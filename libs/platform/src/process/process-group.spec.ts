import { describe, expect, it } from 'vitest';
import { EnvironmentError, loadEnvironment } from '../environment.js';
import { groupOptionsOf, type ProcessGroupOptions } from './process-group.js';

const optionsOf = (settings: Record<string, string>): ProcessGroupOptions =>
  groupOptionsOf(
    'api',
    loadEnvironment({
      DATABASE_URL: 'postgres://127.0.0.1/ladder',
      REDIS_URL: 'redis://127.0.0.1:6379',
      API_PROCESSES: '4',
      ...settings,
    }),
  );

describe('the processes of a group', () => {
  it('have ports for their metrics one after the other, and are single ones otherwise', () => {
    const { count, settingsOf } = optionsOf({ METRICS_PORT: '65532', PORT: '65531' });
    expect(count).toBe(4);
    expect(settingsOf(0)).toEqual({ API_PROCESSES: '1', METRICS_PORT: '65532' });
    expect(settingsOf(3)).toEqual({ API_PROCESSES: '1', METRICS_PORT: '65535' });
  });

  it('have any free ports for their metrics where METRICS_PORT is 0', () => {
    const { settingsOf } = optionsOf({ METRICS_PORT: '0', PORT: '2' });
    expect(settingsOf(3).METRICS_PORT).toBe('0');
  });

  it('are refused where a port for metrics is too high or is PORT', () => {
    const refused = (METRICS_PORT: string, PORT: string): void =>
      expect(() => optionsOf({ METRICS_PORT, PORT })).toThrow(EnvironmentError);
    refused('65533', '3000');
    refused('3000', '3000');
    refused('2997', '3000');
    expect(() => optionsOf({ METRICS_PORT: '2996', PORT: '3000' })).not.toThrow();
    expect(() => optionsOf({ METRICS_PORT: '3001', PORT: '3000' })).not.toThrow();
  });

  it('are killed some seconds after they would have given up by themselves', () => {
    expect(optionsOf({ STOP_DRAIN_MS: '7000' }).stopWithinMs).toBe(32_000);
    expect(optionsOf({ NODE_ENV: 'production' }).stopWithinMs).toBe(30_000);
  });

  it('do not get ports for their lanes that are those of their metrics', () => {
    const metrics = { METRICS_PORT: '9464', PORT: '3000' };
    for (const port of [9461, 9464, 9467]) {
      expect(() => optionsOf({ ...metrics, LANE_ADDRESS: `127.0.0.1:${port}` })).toThrow(/LANE_ADDRESS.*must not be/);
    }
    for (const port of [9460, 9468]) optionsOf({ ...metrics, LANE_ADDRESS: `127.0.0.1:${port}` });
  });
});
