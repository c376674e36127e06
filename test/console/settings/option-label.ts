import { type WordKey, zh } from '#test/support/console-texts.ts'

type KeyIn<Group extends string> = WordKey extends infer Key
  ? Key extends `${Group}.${infer Name}`
    ? Name
    : never
  : never

/** Returns the Chinese label of an option's field, with its unit in brackets if it has one. */
export function label(option: KeyIn<'options.label'>, unit?: KeyIn<'settings.unit'> | '%'): string {
  const text = zh(`options.label.${option}`)
  if (unit === undefined) return text
  return zh('settings.withUnit', {
    label: text,
    unit: unit === '%' ? unit : zh(`settings.unit.${unit}`),
  })
}
