import { auth } from './auth.ts'
import { about, chat, home, oauth, setup } from './home-about-setup-chat-and-oauth.ts'
import { request } from './request-errors.ts'
import { shell } from './shell.ts'
import { ui } from './ui.ts'

/**
 * The texts that are loaded at the start. They suffice for the public pages except `/pricing` and
 * `/proof`. All other texts are loaded after the login or together with their pages.
 */
export const translationsBeforeLogin = { about, auth, chat, home, oauth, request, setup, shell, ui }
