import type { Translations } from '../translation-types.ts'

export const about: Translations['about'] = {
  aboutSite: 'About {{name}}',
  lead: '{{name}} runs on Tallygate: a self-hosted, event-sourced gateway for AI model APIs.',
  plainLead: 'A self-hosted, event-sourced gateway for AI model APIs.',
  ledgerNote:
    'Each call and each change of quota is stored as an event that never changes, so every bill ' +
    'can be checked.',
  details: 'System information',
  version: 'Version',
  started: 'Running since',
  licence: 'Licence',
}

export const chat: Translations['chat'] = {
  unreadable: 'The chat data could not be read',
  noToken: 'No token is enabled: enable or create one first.',
  redirectingToTokens: 'Taking you to your tokens…',
  missingLead: 'No chat client is set up here yet.',
  unknown: 'Chat client not found',
  unknownLead: 'No client has this number. It may have been removed.',
  openFirst: 'Open “{{name}}”',
  addLinkHint: 'Add one under “Chat links”. Users can then open it with their own tokens.',
  linkFormatHint: 'A link must be an https address or use the scheme of a client app.',
  redirecting: 'Taking you there…',
  opensExternally: '{{name}} opens in a separate window.',
  token: 'Token in use',
  warning: 'This client receives the token. Use a separate token with a low limit.',
  openInNewWindow: 'New window',
  blocked: 'The browser blocked this client',
  blockedLead: 'The security policy of this page blocks the client. Open it in a new window.',
}

export const home: Translations['home'] = {
  headline: 'One gateway for every model',
  lead: 'Your own OpenAI-compatible endpoint. Every call is billed exactly and shown live.',
  openConsole: 'Open console',
  snippetTitle: 'Connect your SDK',
  snippetLead: 'Change the address and the key. The rest of your code stays.',
  exactTitle: 'Exact to the unit',
  exactBody:
    'A balance is a ledger: each call is held, then settled. It is never overdrawn or billed ' +
    'twice.',
  liveTitle: 'Live',
  liveBody:
    'A call is in the log the moment it ends, with its tokens and the calculation of its price.',
  yoursTitle: 'Yours',
  yoursBody: 'One command starts it. Keys are encrypted at rest. A power cut loses nothing.',
}

export const oauth: Translations['oauth'] = {
  title: 'Signing in',
  otherMethods: 'Other sign-in methods',
  signInWith: 'Sign in with {{site}}',
  site: {
    github: 'GitHub',
    oidc: 'OIDC',
    linuxdo: 'LinuxDO',
    wechat: 'WeChat',
    telegram: 'Telegram',
  },
  /** The names of the login sites for use within a sentence. */
  siteNameInSentence: {
    github: 'GitHub',
    oidc: 'OIDC',
    linuxdo: 'LinuxDO',
    wechat: 'WeChat',
    telegram: 'Telegram',
  },
  checking: 'Confirming your {{site}} account…',
  refused: 'The sign-in with {{site}} was cancelled or is no longer valid. Try again.',
  scan: 'Scan with WeChat, follow the account and send it “验证码” for a code (valid 3 minutes).',
  noScan: 'Follow this site’s account in WeChat and send it “验证码” for a code (valid 3 minutes).',
  qrCode: 'QR code of the WeChat account',
  telegramLead: 'Press the button, and confirm in Telegram.',
  telegramFailed: 'Telegram’s button did not load. Check your connection and try again.',
  bindings: 'Linked accounts',
  bindingsLead: 'You can sign in with each of them.',
  bind: 'Link',
  bindTo: 'Link a {{site}} account',
  bound: '{{site}} account linked',
  weChatBound: 'WeChat account linked',
  unbound: 'Not linked',
  unbind: 'Unlink',
  unbindTitle: 'Unlink the {{site}} account?',
  unbindBody: 'You can no longer sign in with this {{site}} account.',
  unboundDone: '{{site}} account unlinked',
}

export const setup: Translations['setup'] = {
  title: 'Set up your gateway',
  lead: 'Create the administrator account. Your first relayed call is a minute away.',
  account: 'Administrator account',
  accountReady: 'The administrator account exists. Only the mode is left to choose.',
  nameHint: 'Up to 12 characters',
  passwordHint: '8 to 128 characters',
  confirmPassword: 'Confirm password',
  mode: 'Usage mode',
  external: 'Serve others',
  externalHint: 'The default: many users, billed by usage',
  self: 'Self-use',
  selfHint: 'For yourself or your team; models do not need a price',
  demo: 'Demo site',
  demoHint: 'To show what the system does',
  submit: 'Set up',
  done: 'Setup is complete. One moment…',
  usernameRequired: 'Please enter the administrator username',
  passwordTooShort: 'The password must have at least 8 characters',
  usernameTooLong: 'The username must have at most 12 characters',
  passwordTooLong: 'The password must have at most 128 characters',
  statusFailed: 'Could not read the setup status',
  failed: 'The setup failed. Try again.',
  database: 'Database: {{name}}',
}
