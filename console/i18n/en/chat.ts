import type { Words } from '../i18n.ts'

export const chat: Words['chat'] = {
  title: 'Chat',
  unreadable: 'The chat data could not be read',
  noToken: 'No token is enabled: enable or create one first.',
  toTokens: 'Taking you to your tokens…',
  missing: 'No chat links are set up: ask an administrator',
  missingLead: 'There is no chat client at this address.',
  addLead: 'Add one under “Chat links”, and users can open it with a token of theirs.',
  add: 'Open the settings',
  wrong: 'The chat link is set up wrongly: ask an administrator',
  wrongLead: 'A link must be an https address, or have a client’s own scheme.',
  loading: 'Loading…',
  leaving: 'Taking you there…',
  app: '{{name}} opens in a window of its own.',
  token: 'Token in use',
  warning: 'This client gets the token. A separate token with a low limit is best.',
  open: 'New window',
  blocked: 'The browser blocked this client',
  blockedLead: 'The page’s policy does not let this site in: open it in a new window.',
}
