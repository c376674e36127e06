import type { Core } from '#infra/core.ts'
import type { PageSources } from '#infra/http/security-headers.ts'
import { optionsInForce } from '../options/options-in-force.ts'
import { checksHumans, takesEpay, takesTelegram, takesWeChat } from './get-status.ts'

const HUMAN_CHECK = 'https://challenges.cloudflare.com'
const TELEGRAM = { script: 'https://telegram.org', frame: 'https://oauth.telegram.org' }

/** Other sites that the console's pages need as the options are now; none unless switched on. */
export async function pageSources(core: Pick<Core, 'db'>): Promise<PageSources> {
  const options = await optionsInForce(core)
  const human = checksHumans(options) ? [HUMAN_CHECK] : []
  const telegram = takesTelegram(options)
  return {
    scripts: [...human, ...(telegram ? [TELEGRAM.script] : [])],
    frames: [...human, ...(telegram ? [TELEGRAM.frame] : [])],
    images: takesWeChat(options) ? originOf(options.text('WeChatAccountQRCodeImageURL')) : [],
    forms: takesEpay(options) ? originOf(options.text('PayAddress')) : [],
    hasPopups: telegram,
  }
}

/** None of what is no address. NOTE: a host may have a semicolon, which would end the directive. */
function originOf(url: string): string[] {
  const origin = URL.canParse(url) ? new URL(url).origin : ''
  return /^https?:\/\/[\w.:[\]-]+$/.test(origin) ? [origin] : []
}
