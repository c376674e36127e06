import { messageDecider } from '#domain/message/decide.ts'
import { type MessageText, messageStream } from '#domain/message/events.ts'
import { countOf, type IdRange, rangesOf } from '#domain/message/recipients.ts'
import { optionJson } from '#domain/options/registry.ts'
import { isName, isText } from '#domain/shared/characters.ts'
import { isSame } from '#domain/shared/same.ts'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { httpError, invalidField } from '#infra/http/http-errors.ts'
import type { Vault } from '#infra/vault/port.ts'
import { allOptions } from '#projections/options/query.ts'
import { chosenUserIds } from '#projections/users/query.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { CreatedMessage, CreateMessage } from '../contract/messages.ts'
import { validationWords } from '../validation-words.ts'
import { messageError } from './message-errors.ts'

const FRESH_WITHIN_MS = 2_000
const NAMED_MAX = 10
const RETRY_SECONDS = 5

/** Everybody it goes to, as of now. Unknown groups, unknown and deleted users are named. */
async function chosenRecipients(
  deps: Deps,
  { user_ids = [], groups = [], everybody = false }: CreateMessage,
): Promise<IdRange[]> {
  const { core, freshness } = deps
  // Whoever has registered by now is among everybody.
  const head = await core.store.headPosition()
  const isFresh = await freshness.waitFor(['users'], head, FRESH_WITHIN_MS)
  // Better nobody for now than some of everybody, and nothing said of who is left out.
  if (!isFresh && (everybody || groups.length > 0))
    throw httpError('Unavailable', {}, RETRY_SECONDS)
  await checkGroups(deps, groups)
  const chosen = { isEverybody: everybody, groups, userIds: user_ids }
  const ids = await chosenUserIds(core.db, chosen)
  const known = new Set(ids)
  const unknown = user_ids.filter((id) => !known.has(id))
  if (unknown.length > 0) {
    throw messageError('RecipientUnknown', { ids: unknown.slice(0, NAMED_MAX).join(', ') })
  }
  return rangesOf(ids)
}

/** A group is one of the settings, or one that users have been left in. */
async function checkGroups({ core }: Deps, groups: readonly string[]): Promise<void> {
  if (groups.length === 0) return
  const { values } = await allOptions(core.db)
  const known = optionJson(values, 'GroupRatio') as Readonly<Record<string, unknown>>
  for (const name of groups.filter((one) => !Object.hasOwn(known, one))) {
    const users = await chosenUserIds(core.db, { isEverybody: false, groups: [name], userIds: [] })
    if (users.length > 0) continue
    throw invalidField('groups', {
      zh: `分组「${name}」不存在`,
      en: `there is no group “${name}”`,
    })
  }
}

export type Written = { readonly title: string; readonly content: string }

/** Trimmed, and both there. */
export function writtenIn(body: Written): Written {
  const [title, content] = [body.title.trim(), body.content.trim()]
  if (title === '') throw messageError('MessageTitleRequired')
  if (content === '') throw messageError('MessageContentRequired')
  for (const [field, isFit] of [
    ['title', isName(title)],
    ['content', isText(content)],
  ] as const) {
    if (!isFit) throw invalidField(field, validationWords({ fault: 'bad-character' }))
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

/** POST /api/admin/messages: one event, whoever it goes to. */
export const sendMessage: Action = (api, deps) => {
  api.post(
    '/api/admin/messages',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Send a message to users, to groups, or to everybody there is',
        body: CreateMessage,
        response: { 200: Envelope(CreatedMessage) },
      },
    },
    async (request, reply) => {
      const { actors, vault } = deps.core
      const written = writtenIn(request.body)
      const { format = 'markdown' } = request.body
      const recipients = await chosenRecipients(deps, request.body)
      if (recipients.length === 0) throw messageError('RecipientRequired')
      const context = contextOf(deps, request)
      const { id, outcome } = await deps.nextIds('message', async (messageId) => {
        const textRef = await keepText(vault, messageId, written)
        const command = { type: 'SendMessage', messageId, recipients, format, textRef } as const
        const sent = await actors.handle(messageDecider, messageStream(messageId), command, context)
        if (!sent.isDone) await vault.deleteSecret(textRef)
        return sent
      })
      await waitUntilVisible(deps, reply, ['messages'], accepted(outcome).position)
      return success({ id, total_recipients: countOf(recipients) })
    },
  )
}
