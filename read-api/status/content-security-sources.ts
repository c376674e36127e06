import type { Core } from '#infra/core-dependencies.ts'
import type { PageSources } from '#infra/http/security-headers.ts'
import { hasTasks } from '#projections/tasks/query.ts'
import { type CurrentOptions, currentOptions } from '../options/current-options.ts'
import {
  chatsOf,
  hasHumanCheck,
  offersEpay,
  offersTelegram,
  offersWeChat,
} from './get-status-setup-and-pages.ts'

const HUMAN_CHECK_ORIGIN = 'https://challenges.cloudflare.com'
/**
 * The origins from which pictures and songs may be loaded: any host with https. Plain http is
 * allowed only for the local machine, because other people on the network could see the pictures
 * and songs that a user loads.
 */
const ANY_PROVIDER = ['https:', 'http://localhost:*', 'http://127.0.0.1:*']
const TELEGRAM = { script: 'https://telegram.org', frame: 'https://oauth.telegram.org' }

/**
 * Returns the external origins from which the pages of the console load content, according to the
 * current options. Earlier songs and drawings are listed even if their option is turned off.
 */
export async function pageSources(core: Pick<Core, 'db'>): Promise<PageSources> {
  const options = await currentOptions(core)
  const human = hasHumanCheck(options) ? [HUMAN_CHECK_ORIGIN] : []
  const telegram = offersTelegram(options)
  const [hasSongs, hasDrawings] = await Promise.all([
    options.flag('TaskEnabled') || hasTasks(core.db, 'music'),
    options.flag('DrawingEnabled') || hasTasks(core.db, 'drawing'),
  ])
  // Pages show the covers of songs, and drawings that are not loaded through this site.
  const showsPictures = hasSongs || (hasDrawings && !options.flag('MjForwardUrlEnabled'))
  return {
    scripts: [...human, ...(telegram ? [TELEGRAM.script] : [])],
    frames: [...human, ...(telegram ? [TELEGRAM.frame] : []), ...chatFrames(options)],
    images: [
      ...(offersWeChat(options) ? originOf(options.text('WeChatAccountQRCodeImageURL')) : []),
      ...(showsPictures ? ANY_PROVIDER : []),
    ],
    media: hasSongs ? ANY_PROVIDER : [],
    forms: offersEpay(options) ? originOf(options.text('PayAddress')) : [],
    hasPopups: telegram,
  }
}

/**
 * The maximum number of origins of chat clients. This maximum limits the length of the header
 * `Content-Security-Policy`.
 */
const CHATS_MAX = 50

/**
 * Returns the origins of the chat clients that pages embed. Origins with plain http are left out
 * unless they are local.
 */
function chatFrames(options: CurrentOptions): string[] {
  const chatLinks = chatsOf(options.text('Chats')).flatMap((chat) => Object.values(chat))
  const links = [...chatLinks, options.text('ChatLink'), options.text('ChatLink2')]
  const origins = links.flatMap(originOf).filter((origin) => EMBEDDABLE.test(origin))
  return [...new Set(origins)].slice(0, CHATS_MAX)
}

const EMBEDDABLE = /^(?:https:|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::|$))/

/**
 * Returns the origin of a URL as a list with one element. The list is empty if the URL is invalid
 * or the origin contains other characters than those of a host and a port. NOTE: A semicolon in the
 * host would end the directive in the header `Content-Security-Policy`.
 */
function originOf(url: string): string[] {
  const origin = URL.canParse(url) ? new URL(url).origin : ''
  return /^https?:\/\/[\w.:[\]-]+$/.test(origin) ? [origin] : []
}
