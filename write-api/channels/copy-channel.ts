import { channelsDecider } from '#domain/channel/decide.ts'
import { CHANNELS_STREAM } from '#domain/channel/events.ts'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { languageOf, type Words } from '#infra/http/language.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { CreatedChannels } from '#write-api/contract/channel.ts'
import type { Act } from '../act.ts'
import { IdParams, idOf } from '../id-params.ts'
import { refused } from '../refusals.ts'
import { readChannelKeys } from './channel-key.ts'
import { enteredTerms } from './channel-proxy.ts'
import { checkAddress, checkProxy, checkReach, checkType } from './channel-terms.ts'
import { checkGroups } from './check-groups.ts'
import { makeChannels } from './new-channels.ts'

const SUFFIX: Words = { zh: '_复制', en: '_copy' }

/** POST /api/channel/copy/{id}: another of the same terms and keys, on if that one is. */
export const copyChannel: Act = (api, deps) => {
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
      if (channel === undefined) throw refused('ChannelUnknown')
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
