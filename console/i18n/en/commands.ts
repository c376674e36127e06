import type { Words } from '../i18n.ts'

export const commands: Words['commands'] = {
  palette: 'Command palette',
  paletteKeys: 'Command palette ({{keys}})',
  search: 'Search pages, actions, tokens and channels',
  nothing: 'Nothing matches',
  sheet: 'Keyboard shortcuts',
  sheetLead: 'Not inside fields; ⌘K / Ctrl+K works everywhere.',
  singleKeys: 'Single-key shortcuts',
  singleKeysHint:
    'Off, only ⌘K / Ctrl+K, arrow keys and Enter remain. This browser remembers the choice.',
  keyThen: 'then',
  focusSearch: 'Focus the search',
  copyLink: 'Copy link to this view',
  linkCopied: 'Link copied',
  goTo: 'Go to {{page}}',
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
    tokens: 'Tokens',
    channels: 'Channels',
    users: 'Users',
  },
}
