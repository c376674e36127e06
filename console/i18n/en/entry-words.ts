import type { Words } from '../words-type.ts'
import { auth } from './auth.ts'
import { about, chat, home, oauth, setup } from './entry-pages.ts'
import { pricing } from './pricing.ts'
import { request } from './request.ts'
import { shell } from './shell.ts'
import { ui } from './ui.ts'

/** What the pages before the login need; the others' words come with the console's pages. */
export const entryWords: Pick<
  Words,
  'about' | 'auth' | 'chat' | 'home' | 'oauth' | 'pricing' | 'request' | 'setup' | 'shell' | 'ui'
> = {
  about,
  auth,
  chat,
  home,
  oauth,
  pricing,
  request,
  setup,
  shell,
  ui,
}
