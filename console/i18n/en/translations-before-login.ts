import type { Translations } from '../translation-types.ts'
import { auth } from './auth.ts'
import { about, chat, home, oauth, setup } from './home-about-setup-chat-and-oauth.ts'
import { request } from './request-errors.ts'
import { shell } from './shell.ts'
import { ui } from './ui.ts'

/** The texts of the pages that need no login. All other texts are loaded after the login. */
export const translationsBeforeLogin = {
  about,
  auth,
  chat,
  home,
  oauth,
  request,
  setup,
  shell,
  ui,
} satisfies Partial<Translations>
