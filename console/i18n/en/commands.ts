import type { Translations } from '../translation-types.ts'

export const commands: Translations['commands'] = {
  palette: 'Command palette',
  paletteKeys: 'Command palette ({{keys}})',
  search: 'Search pages, actions, tokens, channels and request IDs',
  nothing: 'No results',
  sheet: 'Keyboard shortcuts',
  sheetLead: 'Shortcuts do not work while you type in a field, except ⌘K / Ctrl+K.',
  singleKeys: 'Single-key shortcuts',
  singleKeysHint:
    'When this is off, only ⌘K / Ctrl+K, arrow keys and Enter work. This browser remembers the ' +
    'choice.',
  keyThen: 'then',
  focusSearch: 'Focus the search field',
  linkCopied: 'Link copied',
  goTo: 'Go to {{page}}',
  openCall: 'Open call {{id}} ({{model}}, {{time}})',
  chooseLanguage: 'Language: {{name}}',
  nextRow: 'Next row',
  previousRow: 'Previous row',
  openRow: 'Open the row',
  selectRow: 'Select the row',
  firstRow: 'First row / last row',
  scratchCopy: 'See the site as of an earlier time (scratch copy)',
  keywords: {
    channels: 'provider new channel add key test',
    me: 'password 2fa two-step passkey sessions email access token',
    reconciliation: 'recompute what-if wrong price correction refund provider invoice csv margin',
    scratchCopy: 'time travel before incident past snapshot',
    settings: 'price ratio smtp mail retry rate limit login registration options',
    tokens: 'new token create api key',
    wallet: 'top up balance redeem code pay',
  },
  section: {
    page: 'This page',
    action: 'Actions',
    go: 'Go to',
    calls: 'Calls',
    tokens: 'Tokens',
    channels: 'Channels',
    users: 'Users',
  },
}
