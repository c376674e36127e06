import type { FastifyInstance } from 'fastify'
import { siteDecider } from '#domain/site/decide.ts'
import { SITE_STREAM } from '#domain/site/events.ts'
import type { Core } from '#infra/core.ts'
import { operatorPolicy } from '#infra/outbound/guard.ts'
import type { Freshness } from '#projections/freshness/query.ts'
import type { Act, Api, Parts } from './act.ts'
import { createChannel } from './channels/create-channel.ts'
import { deleteChannel } from './channels/delete-channel.ts'
import { deleteChannels } from './channels/delete-channels.ts'
import { deleteDisabledChannels } from './channels/delete-disabled-channels.ts'
import { updateChannel } from './channels/update-channel.ts'
import { createTurns } from './in-turn.ts'
import { createNextIds } from './next-id.ts'
import { putOption } from './options/put-option.ts'
import { login } from './session/login.ts'
import { createLoginGuard } from './session/login-guard.ts'
import { logout } from './session/logout.ts'
import { initializeSite } from './setup/initialize-site.ts'
import { createSetupToken } from './setup/setup-token.ts'
import { createToken } from './tokens/create-token.ts'
import { deleteToken } from './tokens/delete-token.ts'
import { updateToken } from './tokens/update-token.ts'
import { createUser } from './users/create-user.ts'
import { manageUser } from './users/manage-user.ts'
import { updateSelf } from './users/update-self.ts'
import { updateUser } from './users/update-user.ts'

/** Every act of the management API. */
const ACTS: readonly Act[] = [
  initializeSite,
  login,
  logout,
  putOption,
  createChannel,
  updateChannel,
  deleteChannel,
  deleteChannels,
  deleteDisabledChannels,
  createToken,
  updateToken,
  deleteToken,
  createUser,
  updateUser,
  updateSelf,
  manageUser,
]

export type WriteApiParts = {
  readonly core: Core
  readonly freshness: Pick<Freshness, 'waitFor'>
  /** Says a line to whoever starts the product, once it is ready; `{url}` is where it listens. */
  readonly tell?: (line: string, when: 'ready') => void
}

/** Registers the write routes on the app of `createHttpApp`. */
export async function writeApi(app: FastifyInstance, given: WriteApiParts): Promise<void> {
  const { core, freshness, tell } = given
  const turns = createTurns()
  const parts: Parts = {
    core,
    freshness,
    turns,
    nextIds: createNextIds(core, turns),
    loginGuard: createLoginGuard(core.limits, core.vault),
    setupToken: createSetupToken(core.vault),
    upstreams: operatorPolicy(core.config),
  }
  for (const act of ACTS) act(app as unknown as Api, parts)
  const site = await core.actors.stateOf(siteDecider, SITE_STREAM)
  if (!site.isInitialized) {
    const { text } = parts.setupToken
    tell?.(`First run: open {url}/setup?token=${text} (other machines need the token)`, 'ready')
  }
}
