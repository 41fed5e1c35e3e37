import { faultOfNamedId, faultOfOpaqueId, faultOfScopeValue } from '@laddercast/domain';
import { parseTimestamp } from '@laddercast/commands';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

type Json = Record<string, unknown>;

export interface Operation {
  operationId: string;
  method: string;
  path: string;
  tags: string[];
  parameters: { name: string; in: string; required: boolean; schema: Json; description?: string }[];
  requestBody?: { content: Record<string, MediaType> };
  responses: Record<string, { description: string; headers?: Json; content?: Record<string, MediaType> }>;
  security: Json[];
}

interface MediaType {
  schema: Json;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

export interface Document {
  openapi: string;
  info: { title: string; version: string };
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Json>; securitySchemes: Json; headers: Json };
}

/** A served OpenAPI document, and what it says of bodies, as JSON Schema 2020-12 says it. */
export class ServedDocument {
  readonly operations: Operation[];
  private readonly ajv: Ajv2020;
  private readonly compiled = new Map<string, ValidateFunction>();

  constructor(readonly document: Document) {
    this.operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
    );
    this.ajv = new Ajv2020({
      strict: true,
      allowUnionTypes: true,
      allErrors: true,
      formats: {
        'opaque-id': (text: string) => faultOfOpaqueId(text) === null,
        'scope-value': (text: string) => faultOfScopeValue(text) === null,
        'named-id': (text: string) => faultOfNamedId(text) === null,
        'http-url': (text: string) => URL.canParse(text),
        'https-url': (text: string) => URL.canParse(text) && new URL(text).protocol === 'https:',
        cursor: true,
        timestamp: (text: string) => parseTimestamp(text) !== null,
        'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
      },
    });
    const members = ['openapi', 'info', 'tags', 'servers', 'paths', 'components'];
    this.ajv.addVocabulary(members);
    this.ajv.addSchema(document, 'openapi.json');
  }

  operation(operationId: string): Operation {
    const found = this.operations.find((one) => one.operationId === operationId);
    if (!found) throw new Error(`The document has no operation ${operationId}.`);
    return found;
  }

  /** What is wrong with the value by a schema of the document, null when nothing is. */
  fault(schema: Json, value: unknown): string | null {
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"openapi.json#/components/');
    let validate = this.compiled.get(text);
    if (!validate) this.compiled.set(text, (validate = this.ajv.compile(JSON.parse(text) as Json)));
    return validate(value) ? null : this.ajv.errorsText(validate.errors);
  }

  /** The value that a local reference points at, undefined when there is none. */
  resolve(reference: string): unknown {
    return reference
      .replace(/^#\//, '')
      .split('/')
      .reduce<unknown>((at, name) => (at as Json | undefined)?.[name], this.document);
  }

  /** Every `$ref` of the document. */
  references(): string[] {
    return [...JSON.stringify(this.document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) => reference!);
  }
}
