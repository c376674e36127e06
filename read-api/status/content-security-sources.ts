import type { Core } from '#infra/core-dependencies.ts'
import type { PageSources } from '#infra/http/security-headers.ts'
import { type CurrentOptions, currentOptions } from '../options/list-options.ts'
import { chatsOf, hasHumanCheck, offersEpay, offersTelegram, offersWeChat } from './get-status.ts'

const HUMAN_CHECK_ORIGIN = 'https://challenges.cloudflare.com'
/**
 * The origins of pictures and songs of any provider. Plain http is only allowed for the local
 * machine, because others on the network could otherwise see what a user views.
 */
const ANY_PROVIDER = ['https:', 'http://localhost:*', 'http://127.0.0.1:*']
const TELEGRAM = { script: 'https://telegram.org', frame: 'https://oauth.telegram.org' }

/** Returns the external origins that the console's pages need, according to the current options. */
export async function pageSources(core: Pick<Core, 'db'>): Promise<PageSources> {
  const options = await currentOptions(core)
  const human = hasHumanCheck(options) ? [HUMAN_CHECK_ORIGIN] : []
  const telegram = offersTelegram(options)
  return {
    scripts: [...human, ...(telegram ? [TELEGRAM.script] : [])],
    frames: [...human, ...(telegram ? [TELEGRAM.frame] : []), ...chatFrames(options)],
    images: [
      ...(offersWeChat(options) ? originOf(options.text('WeChatAccountQRCodeImageURL')) : []),
      ...(showsExternalPictures(options) ? ANY_PROVIDER : []),
    ],
    media: options.flag('TaskEnabled') ? ANY_PROVIDER : [],
    forms: offersEpay(options) ? originOf(options.text('PayAddress')) : [],
    hasPopups: telegram,
  }
}

/** Returns whether pages show external pictures: song covers, or drawings without a proxy. */
const showsExternalPictures = (options: CurrentOptions): boolean =>
  options.flag('TaskEnabled') ||
  (options.flag('DrawingEnabled') && !options.flag('MjForwardUrlEnabled'))

/**
 * The maximum number of chat origins, so that the Content-Security-Policy header is not too large.
 */
const CHATS_MAX = 50

/** Returns the origins of embedded chat clients. An origin must use TLS unless it is local. */
function chatFrames(options: CurrentOptions): string[] {
  const chatLinks = chatsOf(options.text('Chats')).flatMap((chat) => Object.values(chat))
  const links = [...chatLinks, options.text('ChatLink'), options.text('ChatLink2')]
  const origins = links.flatMap(originOf).filter((origin) => EMBEDDABLE.test(origin))
  return [...new Set(origins)].slice(0, CHATS_MAX)
}

const EMBEDDABLE = /^(?:https:|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::|$))/

/**
 * Returns a list with the origin of the URL, or an empty list. NOTE: a semicolon in a host would
 * end the directive in the Content-Security-Policy header.
 */
function originOf(url: string): string[] {
  const origin = URL.canParse(url) ? new URL(url).origin : ''
  return /^https?:\/\/[\w.:[\]-]+$/.test(origin) ? [origin] : []
}
