import type { Words } from '#infra/http/language.ts'

type Details = Readonly<Record<string, string | number>>

/**
 * Appends the names to the message for several objects: `…: a, b, c and 97 more`. Without names it
 * returns the message for one object.
 */
export function naming({ names, more }: Details, one: Words, several: Words): Words {
  if (names === undefined) return one
  const [zh, en] = more === undefined ? ['', ''] : [` 等，另有 ${more} 个`, ` and ${more} more`]
  return { zh: `${several.zh}：${names}${zh}`, en: `${several.en}: ${names}${en}` }
}
