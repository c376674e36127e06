import type { FastifyReply, FastifyRequest } from 'fastify'
import { channelsDecider } from '#domain/channel/decide.ts'
import {
  CHANNELS_STREAM,
  type ChannelTerms,
  type KeyMode,
  type NewChannel,
} from '#domain/channel/events.ts'
import { KEYS_MAX } from '#domain/channel/keys.ts'
import { optionJson } from '#domain/options/registry.ts'
import { isName, isText } from '#domain/shared/characters.ts'
import { maskedSetting, secretProxyIn } from '#domain/shared/proxy-address.ts'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { invalidField } from '#infra/http/http-errors.ts'
import { languageOf, type Words } from '#infra/http/language.ts'
import { highestChannelId } from '#projections/channels/query.ts'
import { allOptions } from '#projections/options/query.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import {
  type Action,
  accepted,
  contextOf,
  type Deps,
  IdParams,
  idOf,
  waitUntilVisible,
} from '../action.ts'
import { CreateChannel, CreatedChannels } from '../contract/channels.ts'
import { channelError } from './channel-errors.ts'
import { dropKeys, keepChannelKeys, readChannelKeys } from './channel-key.ts'
import { enteredTerms, keepProxy } from './channel-proxy.ts'
import {
  checkAddress,
  checkExpiry,
  checkProxy,
  checkReach,
  checkType,
  DEFAULT_TERMS,
  termsWith,
} from './channel-terms.ts'

/** The settings can't do without it. */
const FIRST = 'default'

/**
 * Refuses groups that the settings do not know: nobody could call through them, and a slip of the
 * pen would look like success. Those that the channel has already, `kept`, may stay.
 */
export async function checkGroups(
  { core }: Deps,
  field: 'group' | 'groups',
  groups: readonly string[],
  kept: readonly string[] = [],
): Promise<void> {
  const added = groups.filter((name) => name !== FIRST && !kept.includes(name))
  if (added.length === 0) return
  const { values } = await allOptions(core.db)
  const known = optionJson(values, 'GroupRatio') as Readonly<Record<string, unknown>>
  // What is no name at all is the domain's to refuse.
  const name = added.find((one) => isName(one) && !Object.hasOwn(known, one))
  if (name === undefined) return
  throw invalidField(field, {
    zh: `分组「${name}」不存在，请先在设置中添加`,
    en: `there is no group “${name}”: add it in the settings first`,
  })
}

/** `repeated`: how many of those given were there before, in the text or in the channel. */
type GivenKeys = { readonly keys: readonly string[]; readonly repeated: number }

/** The keys of a text: one a line, none twice; a key that is JSON may go over several lines. */
export function keysIn(text: string): GivenKeys {
  if (!isText(text)) throw channelError('InvalidField', { field: 'key', fault: 'bad-character' })
  if (/^\s*\{/.test(text)) return { keys: [text.trim()], repeated: 0 }
  const lines = text.split(/\r?\n/).map((line) => line.trim())
  const given = lines.filter((line) => line !== '')
  const keys = [...new Set(given)]
  if (keys.length > KEYS_MAX) throw channelError('TooManyKeys', { limit: KEYS_MAX })
  return { keys, repeated: given.length - keys.length }
}

/** Of those to be added, the ones that the channel does not have; refused where it has them all. */
export function newAmong({ keys, repeated }: GivenKeys, known: ReadonlySet<string>): GivenKeys {
  const added = keys.filter((key) => !known.has(key))
  if (added.length === 0 && keys.length > 0) throw channelError('KeyRepeated')
  return { keys: added, repeated: repeated + keys.length - added.length }
}

/** What an answer says of keys that were given twice; nothing where there were none. */
export const repeatedWords = (count: number): Words =>
  count === 0
    ? { zh: '', en: '' }
    : {
        zh: `已忽略 ${count} 个重复的密钥。`,
        en:
          count === 1 ? 'One repeated key was left out.' : `${count} repeated keys were left out.`,
      }

type ChannelsToMake = {
  /** But for the name; the setting's proxy with its login. */
  readonly terms: ChannelTerms
  readonly channels: readonly { readonly name: string; readonly keys: readonly string[] }[]
  readonly keyMode: KeyMode
  readonly isEnabled: boolean
}

/** Tries in a row: each time others made channels, or the read model was behind. */
const TRIES_MAX = 100

/** Makes all of them, or none, under the next ids; answers these once the list shows them. */
async function makeChannels(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  wanted: ChannelsToMake,
): Promise<number[]> {
  const context = contextOf(deps, request)
  const made = await deps.runExclusive('new-channel', async () => {
    let first = (await highestChannelId(deps.core.db)) + 1
    for (let tries = 1; ; tries += 1) {
      const { ids, outcome } = await makeFrom(deps, context, wanted, first)
      const next = outcome.isDone ? null : outcome.error.params.next
      if (typeof next !== 'number' || tries === TRIES_MAX) return { ids, outcome }
      first = next
    }
  })
  const { position } = accepted(made.outcome)
  await waitUntilVisible(deps, reply, ['channels'], position)
  return made.ids
}

async function makeFrom(
  { core }: Deps,
  context: ReturnType<typeof contextOf>,
  { channels: wanted, terms: entered, ...shared }: ChannelsToMake,
  first: number,
) {
  const { actors, vault } = core
  const { setting } = entered
  const proxy = secretProxyIn(setting)
  const terms = proxy === null ? entered : { ...entered, setting: maskedSetting(setting) }
  const channels: NewChannel[] = []
  for (const [index, { name, keys }] of wanted.entries()) {
    const channelId = first + index
    const keyRefs = await keepChannelKeys(vault, channelId, keys)
    const made = { channelId, name, keyRefs }
    if (proxy === null) channels.push(made)
    else channels.push({ ...made, proxyRef: await keepProxy(vault, channelId, proxy) })
  }
  const command = { type: 'CreateChannels', ...shared, terms, channels } as const
  const outcome = await actors.handle(channelsDecider, CHANNELS_STREAM, command, context)
  if (!outcome.isDone) {
    const unused = channels.flatMap(({ keyRefs, proxyRef = [] }) => keyRefs.concat(proxyRef))
    await dropKeys(vault, unused)
  }
  return { ids: channels.map(({ channelId }) => channelId), outcome }
}

/** POST /api/channel/: providers to send calls to, enabled: one, or one for each key. */
export const createChannel: Action = (api, deps) => {
  api.post(
    '/api/channel/',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Create a channel, or one for each of several keys',
        body: CreateChannel,
        response: { 200: Envelope(CreatedChannels) },
      },
    },
    async (request, reply) => {
      const { body } = request
      const terms = termsWith(DEFAULT_TERMS, body)
      const { keys, repeated } = keysIn(body.key ?? '')
      if (terms.name === '' || keys.length === 0) throw channelError('ChannelFieldsRequired')
      checkType(terms.type, deps.servedTypes)
      checkReach(terms, deps.servedTypes)
      checkExpiry(terms.expiredTime, DEFAULT_TERMS.expiredTime, deps.core.now())
      checkAddress(terms.baseUrl, deps.upstreams)
      checkProxy(terms.setting, deps.upstreams)
      await checkGroups(deps, 'group', terms.groups)
      const [id = 0, ...others] = await makeChannels(deps, request, reply, {
        terms,
        isEnabled: true,
        ...divided(terms.name, keys, body),
      })
      return success({ id, ids: [id, ...others] }, repeatedWords(repeated)[languageOf(request)])
    },
  )
}

/** What comes of several keys: a channel each, their names numbered, or all in one channel. */
function divided(
  name: string,
  keys: readonly string[],
  { mode = 'single', multi_key_mode = 'random' }: CreateChannel,
): Pick<ChannelsToMake, 'channels' | 'keyMode'> {
  if (mode === 'batch' && keys.length > 1) {
    const channels = keys.map((key, index) => ({ name: `${name}_${index + 1}`, keys: [key] }))
    return { channels, keyMode: '' }
  }
  const isMulti = mode === 'multi_to_single'
  return { channels: [{ name, keys }], keyMode: isMulti ? multi_key_mode || 'random' : '' }
}

const SUFFIX: Words = { zh: '_复制', en: '_copy' }

/** POST /api/channel/copy/{id}: another of the same terms and keys, on if that one is. */
export const copyChannel: Action = (api, deps) => {
  api.post(
    '/api/channel/copy/:id',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Copy a channel with its keys',
        params: IdParams,
        response: { 200: Envelope(CreatedChannels) },
      },
    },
    async (request, reply) => {
      const { actors, vault } = deps.core
      const { channels } = await actors.stateOf(channelsDecider, CHANNELS_STREAM)
      const channel = channels.get(idOf(request.params))
      if (channel === undefined) throw channelError('ChannelUnknown')
      const { channelId, keyMode, keyRefs, status } = channel
      const terms = await enteredTerms(vault, channelId, channel.terms)
      checkType(terms.type, deps.servedTypes)
      checkReach(terms, deps.servedTypes)
      checkAddress(terms.baseUrl, deps.upstreams)
      checkProxy(terms.setting, deps.upstreams)
      await checkGroups(deps, 'group', terms.groups)
      const name = `${terms.name}${SUFFIX[languageOf(request)]}`
      const keys = await readChannelKeys(vault, channelId, keyRefs)
      const [id = 0] = await makeChannels(deps, request, reply, {
        terms,
        channels: [{ name, keys }],
        keyMode,
        isEnabled: status === 'enabled',
      })
      return success({ id, ids: [id] })
    },
  )
}
