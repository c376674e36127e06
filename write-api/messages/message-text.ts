import type { MessageText } from '#domain/message/events.ts'
import { isName, isText } from '#domain/shared/characters.ts'
import { isSame } from '#domain/shared/same.ts'
import { invalidField } from '#infra/http/faults.ts'
import type { Vault } from '#infra/vault/port.ts'
import { faultWords } from '../fault-words.ts'
import { refused } from '../refusals.ts'

export type Written = { readonly title: string; readonly content: string }

/** Trimmed, and both there. */
export function writtenIn(body: Written): Written {
  const [title, content] = [body.title.trim(), body.content.trim()]
  if (title === '') throw refused('MessageTitleRequired')
  if (content === '') throw refused('MessageContentRequired')
  for (const [field, isFit] of [
    ['title', isName(title)],
    ['content', isText(content)],
  ] as const) {
    if (!isFit) throw invalidField(field, faultWords({ fault: 'bad-character' }))
  }
  return { title, content }
}

const ownerOf = (messageId: number): string => `message:${messageId}`

export const keepText = (
  vault: Pick<Vault, 'putSecret'>,
  messageId: number,
  { title, content }: Written,
): Promise<string> =>
  vault.putSecret('message', ownerOf(messageId), JSON.stringify({ title, content }))

/** The reference of the text: the one there is where it says the same, else a new one. */
export async function keepOtherText(
  vault: Pick<Vault, 'putSecret' | 'getSecrets'>,
  messageId: number,
  { textRef }: MessageText,
  written: Written,
): Promise<string> {
  const owned = { owner: ownerOf(messageId), ref: textRef }
  const kept = (await vault.getSecrets('message', [owned])).get(textRef)
  const isKept = kept !== undefined && isSame(JSON.parse(kept), written)
  return isKept ? textRef : keepText(vault, messageId, written)
}
