import type { SharedWords } from '../words-type.ts'
import { channelForm } from './channel-form.ts'
import { channels, channelTags, channelTests } from './channels.ts'
import { commands } from './commands.ts'
import { entryWords } from './entry-words.ts'
import { health } from './health.ts'
import { me } from './me.ts'
import { playground } from './playground.ts'
import { security } from './security.ts'
import { tokens } from './tokens.ts'
import { usageLog } from './usage-log.ts'
import { wallet } from './wallet.ts'

const inbox: SharedWords['inbox'] = {
  lead: 'What the administrators have told you.',
  unread: 'Unread',
  loadFailed: 'The messages could not be loaded',
  missing: 'No such message',
  empty: 'No messages yet',
  emptyBody: 'What an administrator sends you shows up here.',
  emptyPage: 'There are no messages on this page',
  firstPage: 'Back to the first page',
  back: 'Back to the inbox',
  opening: 'Message',
  content: 'Content of the message',
}

const timeRange: SharedWords['timeRange'] = {
  span: {
    '1h': 'Last hour',
    today: 'Today',
    '24h': 'Last 24 hours',
    '7d': 'Last 7 days',
    '30d': 'Last 30 days',
    all: 'All time',
  },
  from: 'From',
  to: 'To',
  zone: 'Time zone: {{zone}}',
  apply: 'Apply',
  fault: 'Fill in both times, the first not after the second',
}

/** Words that several areas share. A word with another meaning has its own key. */
const words: SharedWords['words'] = {
  username: 'Username',
  passwordLength: '8 to 128 characters',
  channelHealth: 'Channel health',
  orders: 'Orders',
  copyLink: 'Copy link to this view',
  actions: 'Actions',
  anyStatus: 'Any status',
  id: 'ID',
  name: 'Name',
  status: 'Status',
  key: 'Key',
  quota: 'Quota',
  expires: 'Expires',
  created: 'Created',
  never: 'Never',
  enableNamed: 'Enable {{name}}',
  moreActions: 'More actions for {{name}}',
  delete: 'Delete',
  enableChosen: 'Enable selected',
  disableChosen: 'Disable selected',
  deleteChosen: 'Delete selected',
  enabledNamed: 'Enabled “{{name}}”',
  disabledNamed: 'Disabled “{{name}}”',
  saveChanges: 'Save changes',
  saved: 'Saved',
  basics: 'Basics',
  usualAmounts: 'Usual amounts',
  zeroMeansNoLimit: '0 means no limit.',
  done: 'Done',
  filtersCount: 'Filters ({{count}})',
  allGroups: 'All groups',
  type: 'Type',
  newChannel: 'New channel',
  balance: 'Balance',
  testFailed: 'Test failed: {{reason}}',
  setTag: 'Set tag',
  noChannels: 'No channels yet',
  noChannelMatches: 'No channel matches',
  unchanged: 'Nothing has changed!',
  baseUrl: 'Base URL',
  searchModels: 'Search models',
  test: 'Test',
  testing: 'Testing…',
  failed: 'Failed',
  details: 'Details',
  timeRange: 'Time range',
  channel: 'Channel',
  asTable: 'View as table',
  asChart: 'View as chart',
  time: 'Time',
  messages: 'Messages',
  currentBalance: 'Balance',
  requests: 'Requests',
  account: 'Account',
  settings: 'Settings',
  saveSettings: 'Save settings',
  save: 'Save',
  calls: 'Calls',
  requestId: 'Request ID',
  channelId: 'Channel ID',
  user: 'User',
  showAllTime: 'Show all time',
  send: 'Send',
  topUpCode: 'Top-up code',
  moreFor: 'More for {{name}}',
  byModel: 'By model',
  margin: 'Margin',
  userId: 'User ID',
  end: 'End',
  searchAction: 'Search',
  displayName: 'Display name',
  quotaUnits: '{{quota}} quota units',
  noReason: 'No reason given',
}

/** One line per area. */
export const en: SharedWords = {
  ...entryWords,
  words,
  commands,
  tokens,
  channels,
  channelForm,
  channelTags,
  channelTests,
  health,
  inbox,
  me,
  security,
  timeRange,
  usageLog,
  playground,
  wallet,
}
