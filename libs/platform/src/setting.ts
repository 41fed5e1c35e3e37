import { ValidateBy } from 'class-validator';

interface SettingDoc {
  name: string;
  doc: string;
  example: string;
}

/** Every setting that is described, in the order of the classes. */
export const documented: SettingDoc[] = [];

/** Describes a setting for `.env.example` and the reference page, which are generated from here. */
export function Setting(doc: string, example = ''): PropertyDecorator {
  return (_target, name) => void documented.push({ name: String(name), doc, example });
}

/**
 * A setting with a check of its own.
 * @param faultOf says what is wrong with the text, null when nothing is
 */
export const Passes = (faultOf: (text: string) => string | null): PropertyDecorator =>
  ValidateBy({
    name: 'passes',
    validator: {
      validate: (value) => faultOf(String(value)) === null,
      defaultMessage: (fault) => `${fault!.property}: ${faultOf(String(fault!.value))}`,
    },
  });

/** A numeric setting: text from the environment becomes a number, anything else stays as it is and is reported. */
export const asNumber = (text: unknown): unknown =>
  typeof text === 'string' && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;

/**
 * A setting that has to agree with the others, and with the files that it names.
 * @param faultOf says in a sentence what is wrong, null when nothing is
 */
export const Agrees = <Settings extends object>(faultOf: (settings: Settings) => string | null): PropertyDecorator =>
  ValidateBy({
    name: 'agrees',
    validator: {
      validate: (_value, given) => faultOf(given!.object as Settings) === null,
      defaultMessage: (given) => faultOf(given!.object as Settings)!,
    },
  });
