import { auth } from './auth.ts'
import { about, chat, home, oauth, setup } from './entry-pages.ts'
import { request } from './request-errors.ts'
import { shell } from './shell.ts'
import { ui } from './ui.ts'

/** The texts of the pages before login. All other texts load after the login. */
export const entryTranslations = { about, auth, chat, home, oauth, request, setup, shell, ui }
