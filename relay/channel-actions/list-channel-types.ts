import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { channelChecks } from '#read-api/contract/channel-actions.ts'
import type { ChannelType } from '#read-api/contract/channel-type-schema.ts'
import { PROFILES, TASK_PROFILES } from '#relay/providers/profiles/profiles-by-channel-type.ts'
import type { Profile } from '#relay/providers/profiles/provider-profile.ts'
import type { ChannelAction } from './channel-action.ts'

/** Serves `GET /api/channel/types` for admins: the supported channel types and their fields. */
export const listTypes: ChannelAction = (api) => {
  api.route({
    ...endpoint(channelChecks, 'GET /api/channel/types'),
    onRequest: onlyAdmin,
    handler: async () => success([...PROFILES, ...TASK_PROFILES].map(typeAnswer)),
  })
}

/**
 * Returns the path of the first endpoint that exists at the default address of the channel type. An
 * endpoint with the pattern `bases` exists only at addresses that match the pattern.
 */
function chatPathOf({ baseUrl, endpoints }: Profile): string {
  const url = baseUrl !== null && URL.canParse(baseUrl) ? new URL(baseUrl) : null
  const at = url === null ? '' : `${url.hostname}${url.pathname}`
  const offered = endpoints.find(({ bases }) => bases?.test(at) !== false)
  return (offered ?? endpoints[0])?.path ?? ''
}

const typeAnswer = (profile: Profile): ChannelType => ({
  id: profile.id,
  name: profile.name,
  base_url: profile.baseUrl ?? '',
  bases: (profile.bases ?? []).map(({ keyword, name, baseUrl }) => ({
    keyword,
    name,
    base_url: baseUrl,
  })),
  chat_path: profile.tasks?.path ?? chatPathOf(profile),
  fields: (profile.fields ?? []).map(({ isRequired, choices, ...field }) => ({
    ...field,
    is_required: isRequired,
    ...(choices === undefined ? {} : { choices: [...choices] }),
  })),
  key_hint: profile.keyHint,
  has_balance: profile.balance !== undefined,
  can_list_models: profile.modelsPath !== null,
  models: [...profile.models],
})
