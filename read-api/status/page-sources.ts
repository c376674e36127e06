import type { Core } from '#infra/core.ts'
import type { PageSources } from '#infra/http/security-headers.ts'
import { type OptionsInForce, optionsInForce } from '../options/list-options.ts'
import { chatsOf, checksHumans, takesEpay, takesTelegram, takesWeChat } from './get-status.ts'

const HUMAN_CHECK = 'https://challenges.cloudflare.com'
/**
 * Providers put what they made wherever they like: reached over TLS, or on this machine, so that
 * nobody on the way learns what is looked at.
 */
const ELSEWHERE = ['https:', 'http://localhost:*', 'http://127.0.0.1:*']
const TELEGRAM = { script: 'https://telegram.org', frame: 'https://oauth.telegram.org' }

/** Other sites that the console's pages need as the options are now; none unless switched on. */
export async function pageSources(core: Pick<Core, 'db'>): Promise<PageSources> {
  const options = await optionsInForce(core)
  const human = checksHumans(options) ? [HUMAN_CHECK] : []
  const telegram = takesTelegram(options)
  return {
    scripts: [...human, ...(telegram ? [TELEGRAM.script] : [])],
    frames: [...human, ...(telegram ? [TELEGRAM.frame] : []), ...chatFrames(options)],
    images: [
      ...(takesWeChat(options) ? originOf(options.text('WeChatAccountQRCodeImageURL')) : []),
      ...(showsForeignPictures(options) ? ELSEWHERE : []),
    ],
    media: options.flag('TaskEnabled') ? ELSEWHERE : [],
    forms: takesEpay(options) ? originOf(options.text('PayAddress')) : [],
    hasPopups: telegram,
  }
}

/** Drawings from where they were made, and the covers of songs. */
const showsForeignPictures = (options: OptionsInForce): boolean =>
  options.flag('TaskEnabled') ||
  (options.flag('DrawingEnabled') && !options.flag('MjForwardUrlEnabled'))

/** So many clients that a header has room for them. */
const CHATS_MAX = 50

/** Of the chat clients: the console frames those that are reached over TLS, or on this machine. */
function chatFrames(options: OptionsInForce): string[] {
  const listed = chatsOf(options.text('Chats')).flatMap((chat) => Object.values(chat))
  const links = [...listed, options.text('ChatLink'), options.text('ChatLink2')]
  const origins = links.flatMap(originOf).filter((origin) => PRIVATE.test(origin))
  return [...new Set(origins)].slice(0, CHATS_MAX)
}

const PRIVATE = /^(?:https:|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::|$))/

/** None of what is no address. NOTE: a host may have a semicolon, which would end the directive. */
function originOf(url: string): string[] {
  const origin = URL.canParse(url) ? new URL(url).origin : ''
  return /^https?:\/\/[\w.:[\]-]+$/.test(origin) ? [origin] : []
}
