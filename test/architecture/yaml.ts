import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const READER = 'import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))';

/** Whether YAML can be read on this machine: by Python with PyYAML, since no dependency of ours reads it. */
export const canReadYaml = spawnSync('python3', ['-c', 'import yaml']).status === 0;

/** What to do where it cannot. */
export const YAML_REMEDY = 'no YAML reader. Install python3 with PyYAML (python3-yaml).';

/** A file of YAML 1.1, in which a key `on` means true unless it is quoted. @throws Error where it is not YAML */
export function readYaml(file: string): unknown {
  const { stdout, stderr, status } = spawnSync('python3', ['-c', READER], { input: readFileSync(file) });
  if (status !== 0) throw new Error(`${file} is not YAML: ${String(stderr)}`);
  return JSON.parse(String(stdout));
}
