import { hasSameTarget } from '#domain/channel/change-terms.ts'
import { channelsDecider } from '#domain/channel/decide.ts'
import { CHANNELS_STREAM, type ChannelEvent } from '#domain/channel/events.ts'
import { isExpired } from '#domain/channel/status.ts'
import { channelHealthDecider } from '#domain/channel-health/decide.ts'
import { channelHealthStream } from '#domain/channel-health/events.ts'
import { isSame } from '#domain/shared/same.ts'
import type { AnyStep, CommandContext } from '#infra/event-store/actors-port.ts'
import { onlyAdmin } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { invalidField } from '#infra/http/http-errors.ts'
import { languageOf } from '#infra/http/language.ts'
import { type ChannelRow, findChannel } from '#projections/channels/query.ts'
import { UpdateChannel } from '#write-api/contract/channels.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { dropKeys, keepChannelKeys, readChannelKeys } from './channel-key.ts'
import { keepProxy, settingChange } from './channel-proxy.ts'
import {
  changeOf,
  checkAddress,
  checkExpiry,
  checkProxy,
  checkReach,
  checkType,
} from './channel-terms.ts'
import { checkGroups, keysIn, newAmong, repeatedWords } from './create-channel.ts'

/**
 * PUT /api/channel/: the fields given, the others stay; status 1 enables, 2 disables. 3 is what it
 * stands at by itself: it may be sent back as it was read.
 */
export const updateChannel: Action = (api, deps) => {
  api.put(
    '/api/channel/',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Change a channel; a new type, address or proxy needs the key again',
        body: UpdateChannel,
        response: { 200: Done },
      },
    },
    async (request, reply) => {
      const { body } = request
      const { position, repeated } = await deps.runExclusive(`channel-keys:${body.id}`, () =>
        change(deps, body, contextOf(deps, request)),
      )
      await waitUntilVisible(deps, reply, ['channels'], position)
      return done(repeatedWords(repeated)[languageOf(request)])
    },
  )
}

/** What decides whether a call can go there. */
const REACHED_BY = ['type', 'groups', 'baseUrl', 'other', 'organization'] as const

type Changed = { readonly position: number; readonly repeated: number }

async function change(
  deps: Deps,
  fields: UpdateChannel,
  context: CommandContext,
): Promise<Changed> {
  const { actors, db, vault } = deps.core
  const row = await findChannel(db, fields.id)
  if (row !== null) checkStatus(fields, row, context)
  const { proxy, isKept, terms } = await changeWithProxy(deps, fields)
  // One that was allowed once must not stand in the way of turning the channel off.
  const { baseUrl, type, setting } = terms
  if (type !== undefined && type !== row?.terms.type) checkType(type, deps.servedTypes)
  if (row !== null && REACHED_BY.some((key) => key in terms)) {
    const next = { ...row.terms, ...terms }
    if (!isSame(next, row.terms)) checkReach(next, deps.servedTypes)
  }
  if (baseUrl !== undefined && baseUrl !== row?.terms.baseUrl) {
    checkAddress(baseUrl, deps.upstreams)
  }
  if (setting !== undefined && setting !== row?.terms.setting) {
    checkProxy(setting, deps.upstreams, isKept || proxy !== null)
  }
  if (row !== null && terms.expiredTime !== undefined) {
    checkExpiry(terms.expiredTime, row.terms.expiredTime, context.at)
  }
  if (row !== null) await checkGroups(deps, 'group', terms.groups ?? [], row.terms.groups)
  const given = await givenKeys(deps, fields)
  const refs = await keepChannelKeys(vault, fields.id, given.keys)
  const keys = refs.length === 0 ? null : { refs, isAppended: fields.key_mode === 'append' }
  const keyMode = fields.multi_key_mode ?? null
  const proxyRef = proxy === null ? null : await keepProxy(vault, fields.id, proxy)
  const change = proxyRef === null ? terms : { ...terms, proxyRef }
  const changed = { type: 'ChangeTerms', channelId: fields.id, change, keys, keyMode }
  const commands = [changed, ...keyCommands(fields, row), ...statusCommands(fields, context)]
  const steps = commands.map(
    (command): AnyStep => ({ decider: channelsDecider, stream: CHANNELS_STREAM, command }),
  )
  const isNew =
    keys !== null || (row !== null && !hasSameTarget({ ...row.terms, ...change }, row.terms))
  if (isNew) steps.push(circuitsClosed(fields.id))
  const outcome = await actors.handleTogether(steps, context)
  const events = outcome.isDone ? (outcome.events as readonly ChannelEvent[]) : []
  const unused = proxyRef === null ? refs : [...refs, proxyRef]
  await dropKeys(vault, outcome.isDone ? events.flatMap(droppedBy) : unused)
  return { position: accepted(outcome).position, repeated: given.repeated }
}

/** With what becomes of the login of the proxy in its setting. */
async function changeWithProxy({ core }: Deps, fields: UpdateChannel) {
  const terms = changeOf(fields)
  const { channels } = await core.actors.stateOf(channelsDecider, CHANNELS_STREAM)
  const before = channels.get(fields.id)?.terms
  if (terms.setting === undefined || before === undefined) {
    return { terms, proxy: null, isKept: false }
  }
  const change = await settingChange(core.vault, fields.id, terms.setting, before)
  return { ...change, terms: { ...terms, ...change.terms } }
}

/** Keys that are added are compared with those there are: none is in a channel twice. */
async function givenKeys({ core }: Deps, { id, key, key_mode }: UpdateChannel) {
  const given = keysIn(key ?? '')
  if (key_mode !== 'append' || given.keys.length === 0) return given
  const { channels } = await core.actors.stateOf(channelsDecider, CHANNELS_STREAM)
  const known = await readChannelKeys(core.vault, id, channels.get(id)?.keyRefs ?? [])
  return newAmong(given, new Set(known))
}

/** What failed with another key, or at another address, says nothing of what it is now. */
const circuitsClosed = (channelId: number): AnyStep => ({
  decider: channelHealthDecider,
  stream: channelHealthStream(channelId),
  command: { type: 'CloseCircuits', reason: 'change' },
})

function droppedBy(event: ChannelEvent): readonly string[] {
  if (event.type !== 'ChannelTermsChanged') return []
  const { droppedKeyRefs, droppedProxyRef = [] } = event.data
  return droppedKeyRefs.concat(droppedProxyRef)
}

/** Places are those of the list as it was read. */
function keyCommands({ id, enable_keys: places = [] }: UpdateChannel, row: ChannelRow | null) {
  if (places.length === 0) return []
  const { keyRefs } = row ?? { keyRefs: [] }
  if (row !== null && places.some((place) => place >= keyRefs.length)) {
    throw invalidField('enable_keys', { zh: '没有这个密钥', en: 'there is no such key' })
  }
  const chosen = keyRefs.filter((_, place) => places.includes(place))
  return [{ type: 'TakeBackKeys', channelId: id, keyRefs: chosen }]
}

function checkStatus({ status }: UpdateChannel, row: ChannelRow, { at }: CommandContext): void {
  const isOver = isExpired(row.terms.expiredTime, at / 1_000)
  if (status !== 3 || row.status === 3 || (row.status === 1 && isOver)) return
  throw invalidField('status', {
    zh: '只能设为 1（启用）或 2（禁用）；3（自动禁用）由网关自行设置',
    en: 'can be set to 1 (enabled) or 2 (disabled) only; 3 (auto-disabled) is set by the gateway',
  })
}

function statusCommands({ id, status }: UpdateChannel, { at }: CommandContext) {
  if (status === 2) return [{ type: 'DisableChannels', channelIds: [id] }]
  if (status !== 1) return []
  return [{ type: 'EnableChannels', channelIds: [id], now: Math.floor(at / 1_000) }]
}
