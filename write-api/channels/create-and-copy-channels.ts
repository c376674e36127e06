import type { FastifyReply, FastifyRequest } from 'fastify'
import { channelsDecider } from '#domain/channels/decide.ts'
import {
  CHANNELS_STREAM,
  type ChannelTerms,
  type KeyMode,
  type NewChannel,
} from '#domain/channels/events.ts'
import { maskProxyPassword, proxyWithCredentials } from '#domain/shared/mask-proxy-credentials.ts'
import type { TranslatedText } from '#domain/shared/translated-text.ts'
import { onlyAdmin } from '#infra/http/access-checks.ts'
import { checkAddress } from '#infra/http/check-channel-address-and-proxy.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { languageOf } from '#infra/http/request-language.ts'
import { success } from '#infra/http/response-envelope.ts'
import { highestChannelId } from '#projections/channels/query.ts'
import { type Action, accepted, contextOf, type Deps, idOf, waitUntilVisible } from '../action.ts'
import { type CreateChannel, channelActions } from '../contract/channels.ts'
import { channelError } from './channel-errors.ts'
import { deleteChannelSecrets, readChannelKeys, storeChannelKeys } from './channel-keys-in-vault.ts'
import { storeProxy, termsWithProxyCredentials } from './channel-proxy-in-vault.ts'
import {
  checkExpiry,
  checkKeys,
  checkProxyIn,
  checkRequirements,
  checkType,
  INITIAL_TERMS,
  termsWith,
} from './channel-terms-from-request.ts'
import { checkGroups } from './check-channel-groups.ts'
import { parseKeys, repeatedKeysMessage } from './parse-channel-keys.ts'

type ChannelBatch = {
  /**
   * The terms (settings) of all channels in the batch, except the name. `setting` may contain the
   * credentials of the proxy.
   */
  readonly terms: ChannelTerms
  readonly channels: readonly { readonly name: string; readonly keys: readonly string[] }[]
  readonly keyMode: KeyMode
  readonly isEnabled: boolean
}

/**
 * The maximum number of attempts to assign ids. An attempt fails if another process has just
 * created a channel that the read model does not include yet.
 */
const ATTEMPTS_MAX = 100

/**
 * Creates all channels of a batch in one append. Waits until the list of channels includes the new
 * channels, and returns their ids.
 */
async function createBatch(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  batch: ChannelBatch,
): Promise<number[]> {
  const context = contextOf(deps, request)
  const created = await deps.runExclusive('new-channel', async () => {
    let firstId = (await highestChannelId(deps.core.db)) + 1
    for (let attempts = 1; ; attempts += 1) {
      const { ids, outcome } = await tryCreateBatch(deps, context, batch, firstId)
      const next = outcome.isDone ? null : outcome.error.params.next
      if (typeof next !== 'number' || attempts === ATTEMPTS_MAX) return { ids, outcome }
      firstId = next
    }
  })
  const { position } = accepted(created.outcome)
  await waitUntilVisible(deps, reply, ['channels'], position)
  return created.ids
}

async function tryCreateBatch(
  { core }: Deps,
  context: ReturnType<typeof contextOf>,
  { channels: batch, terms: entered, ...shared }: ChannelBatch,
  firstId: number,
) {
  const { actors, vault } = core
  const { setting } = entered
  const proxy = proxyWithCredentials(setting)
  const terms = proxy === null ? entered : { ...entered, setting: maskProxyPassword(setting) }
  const channels: NewChannel[] = []
  for (const [index, { name, keys }] of batch.entries()) {
    const channelId = firstId + index
    const keyRefs = await storeChannelKeys(vault, channelId, keys)
    const created = { channelId, name, keyRefs }
    if (proxy === null) channels.push(created)
    else channels.push({ ...created, proxyRef: await storeProxy(vault, channelId, proxy) })
  }
  const command = { type: 'CreateChannels', ...shared, terms, channels } as const
  const outcome = await actors.handle(channelsDecider, CHANNELS_STREAM, command, context)
  if (!outcome.isDone) {
    const unused = channels.flatMap(({ keyRefs, proxyRef = [] }) => keyRefs.concat(proxyRef))
    await deleteChannelSecrets(vault, unused)
  }
  return { ids: channels.map(({ channelId }) => channelId), outcome }
}

/** POST /api/channel/: creates one enabled channel, or one for each key in `batch` mode. */
export const createChannel: Action = (api, deps) => {
  api.route({
    ...endpoint(channelActions, 'POST /api/channel/'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const { body } = request
      const terms = termsWith(INITIAL_TERMS, body)
      const { keys, repeated } = parseKeys(body.key ?? '')
      if (terms.name === '' || keys.length === 0) throw channelError('ChannelFieldsRequired')
      checkType(terms.type, deps.servedTypes)
      checkRequirements(terms, deps.servedTypes)
      checkKeys(terms, keys, deps.servedTypes)
      checkExpiry(terms.expiredTime, INITIAL_TERMS.expiredTime, deps.core.now())
      checkAddress(terms.baseUrl, deps.upstreams)
      checkProxyIn(terms.setting, deps.upstreams)
      await checkGroups(deps, 'group', terms.groups)
      const [id = 0, ...others] = await createBatch(deps, request, reply, {
        terms,
        isEnabled: true,
        ...splitKeys(terms.name, keys, body),
      })
      return success(
        { id, ids: [id, ...others] },
        repeatedKeysMessage(repeated)[languageOf(request)],
      )
    },
  })
}

/**
 * Determines which channels a request creates. In `batch` mode with several keys, each key gets a
 * channel with a numbered name. In any other case, one channel gets all keys. In `single` mode, the
 * domain rejects several keys.
 */
function splitKeys(
  name: string,
  keys: readonly string[],
  { mode = 'single', multi_key_mode = 'random' }: CreateChannel,
): Pick<ChannelBatch, 'channels' | 'keyMode'> {
  if (mode === 'batch' && keys.length > 1) {
    const channels = keys.map((key, index) => ({ name: `${name}_${index + 1}`, keys: [key] }))
    return { channels, keyMode: '' }
  }
  const isMulti = mode === 'multi_to_single'
  return { channels: [{ name, keys }], keyMode: isMulti ? multi_key_mode || 'random' : '' }
}

const COPY_SUFFIX: TranslatedText = { zh: '_复制', en: '_copy' }

/**
 * POST /api/channel/copy/{id}: creates a new channel with the terms and keys of an existing one.
 * The name gets a suffix. The copy is enabled only if the status of the original is enabled.
 */
export const copyChannel: Action = (api, deps) => {
  api.route({
    ...endpoint(channelActions, 'POST /api/channel/copy/:id'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const { actors, vault } = deps.core
      const { channels } = await actors.stateOf(channelsDecider, CHANNELS_STREAM)
      const channel = channels.get(idOf(request.params))
      if (channel === undefined) throw channelError('ChannelUnknown')
      const { channelId, keyMode, keyRefs, status } = channel
      const terms = await termsWithProxyCredentials(vault, channelId, channel.terms)
      checkType(terms.type, deps.servedTypes)
      checkRequirements(terms, deps.servedTypes)
      checkAddress(terms.baseUrl, deps.upstreams)
      checkProxyIn(terms.setting, deps.upstreams)
      await checkGroups(deps, 'group', terms.groups)
      const name = `${terms.name}${COPY_SUFFIX[languageOf(request)]}`
      const keys = await readChannelKeys(vault, channelId, keyRefs)
      const [id = 0] = await createBatch(deps, request, reply, {
        terms,
        channels: [{ name, keys }],
        keyMode,
        isEnabled: status === 'enabled',
      })
      return success({ id, ids: [id] })
    },
  })
}
