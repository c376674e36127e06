import Type from 'typebox'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { NamedTag } from '#write-api/contract/channel.ts'
import type { Act } from '../act.ts'
import { countOf, decideChannels, unixNow } from './decide-channels.ts'

/** POST /api/channel/tag/enabled and /tag/disabled: every channel of the tag; those that have
 * expired are not enabled. Answers how many changed. */
export const setTagStatus: Act = (api, deps) => {
  for (const [status, type] of [
    ['enabled', 'EnableTag'],
    ['disabled', 'DisableTag'],
  ] as const) {
    api.post(
      `/api/channel/tag/${status}`,
      {
        onRequest: onlyAdmin,
        schema: {
          summary: `Have every channel of a tag ${status}; answers how many changed`,
          body: NamedTag,
          response: { 200: Envelope(Type.Integer()) },
        },
      },
      async (request, reply) => {
        const command = { type, tag: request.body.tag, now: unixNow(deps) }
        return success(countOf(await decideChannels(deps, request, reply, command)))
      },
    )
  }
}
