import type { Words } from '#infra/http/language.ts'

type Details = Readonly<Record<string, string | number>>

/** Words for `one` where none is named, else for several: `…: a, b, c and 97 more`. */
export function naming({ names, more }: Details, one: Words, several: Words): Words {
  if (names === undefined) return one
  const [zh, en] = more === undefined ? ['', ''] : [` 等，另有 ${more} 个`, ` and ${more} more`]
  return { zh: `${several.zh}：${names}${zh}`, en: `${several.en}: ${names}${en}` }
}
