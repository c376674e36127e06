import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { languageOf } from '#infra/http/language.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { CreateChannel, CreatedChannels } from '#write-api/contract/channel.ts'
import type { Act } from '../act.ts'
import { refused } from '../refusals.ts'
import {
  checkAddress,
  checkExpiry,
  checkProxy,
  checkReach,
  checkType,
  DEFAULT_TERMS,
  termsWith,
} from './channel-terms.ts'
import { checkGroups } from './check-groups.ts'
import { keysIn, repeatedWords } from './keys-in.ts'
import { type ChannelsToMake, makeChannels } from './new-channels.ts'

/** POST /api/channel/: providers to send calls to, enabled: one, or one for each key. */
export const createChannel: Act = (api, deps) => {
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
      if (terms.name === '' || keys.length === 0) throw refused('ChannelFieldsRequired')
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
