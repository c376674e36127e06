import type { Words } from '../words-type.ts'

export const home: Words['home'] = {
  title: 'Home',
  headline: 'One gateway for every model',
  lead: 'An OpenAI-compatible endpoint of your own. Every call billed exactly and seen live.',
  openConsole: 'Open console',
  snippetTitle: 'Point an SDK here',
  snippetLead: 'Change the address and the key. The rest of your code stays.',
  exactTitle: 'Exact to the unit',
  exactBody:
    'A balance is a ledger: each call is held, then settled. Never overdrawn, never billed twice.',
  liveTitle: 'Live',
  liveBody:
    'A call is in the log the moment it ends, with its tokens and how its price came about.',
  yoursTitle: 'Yours',
  yoursBody: 'One command to start. Keys encrypted at rest. A power cut loses nothing.',
}
