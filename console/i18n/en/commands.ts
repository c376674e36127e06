import type { Words } from '../words-type.ts'

export const commands: Words['commands'] = {
  palette: 'Command palette',
  paletteKeys: 'Command palette ({{keys}})',
  search: 'Search pages, actions, tokens, channels and request IDs',
  nothing: 'Nothing matches',
  sheet: 'Keyboard shortcuts',
  sheetLead: 'Not inside fields; ⌘K / Ctrl+K works everywhere.',
  singleKeys: 'Single-key shortcuts',
  singleKeysHint:
    'Off, only ⌘K / Ctrl+K, arrow keys and Enter remain. This browser remembers the choice.',
  keyThen: 'then',
  focusSearch: 'Focus the search',
  linkCopied: 'Link copied',
  goTo: 'Go to {{page}}',
  openCall: 'Open call {{id}} ({{model}}, {{time}})',
  chooseLanguage: 'Language: {{name}}',
  nextRow: 'Next row',
  previousRow: 'Previous row',
  openRow: 'Open the row',
  selectRow: 'Select the row',
  firstRow: 'First row / last row',
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
