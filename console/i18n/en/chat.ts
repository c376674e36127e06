import type { Words } from '../words-type.ts'

export const chat: Words['chat'] = {
  unreadable: 'The chat data could not be read',
  noToken: 'No token is enabled: enable or create one first.',
  toTokens: 'Taking you to your tokens…',
  missingLead: 'No chat client is set up here yet.',
  unknown: 'There is no such chat client',
  unknownLead: 'No client has this number. It may have been removed.',
  toFirst: 'Open “{{name}}”',
  addLead: 'Add one under “Chat links”, and users can open it with a token of theirs.',
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
