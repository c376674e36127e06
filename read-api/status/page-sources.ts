import type { Core } from '#infra/core.ts'
import type { PageSources } from '#infra/http/security-headers.ts'
import { optionsInForce } from '../options/options-in-force.ts'
import { checksHumans } from './get-status.ts'

const HUMAN_CHECK = 'https://challenges.cloudflare.com'

/** Other sites that the console's pages need as the options are now; none unless switched on. */
export async function pageSources(core: Pick<Core, 'db'>): Promise<PageSources> {
  const options = await optionsInForce(core)
  const human = checksHumans(options) ? [HUMAN_CHECK] : []
  return { scripts: human, frames: human }
}
