import type { SharedTranslations } from '../translation-types.ts'
import { channelForm } from './channel-form.ts'
import { channels, channelTags, channelTests } from './channels.ts'
import { commands } from './commands.ts'
import { entryTranslations } from './entry-translations.ts'
import { health } from './health.ts'
import { me } from './me.ts'
import { playground } from './playground.ts'
import { security } from './security.ts'
import { tokens } from './tokens.ts'
import { usageLog } from './usage-log.ts'

const inbox: SharedTranslations['inbox'] = {
  lead: 'Messages from the administrators.',
  unread: 'Unread',
  loadFailed: 'The messages could not be loaded',
  notFound: 'The message does not exist',
  empty: 'No messages yet',
  emptyBody: 'Messages from administrators appear here.',
  emptyPage: 'There are no messages on this page',
  firstPage: 'Back to the first page',
  back: 'Back to the inbox',
  pendingTitle: 'Message',
  content: 'Content of the message',
}

const timeRange: SharedTranslations['timeRange'] = {
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
  invalid: 'Fill in both times, the first not after the second',
}

/**
 * Texts that several areas use with the same meaning. A text with another meaning has a separate
 * key.
 */
const shared: SharedTranslations['shared'] = {
  undo: 'Undo',
  reconnectNow: 'Reconnect now',
  error: {
    wholeNumber: 'Enter a whole number from {{min}} to {{max, number}}',
    tooLong: 'At most {{max, number}} characters',
  },
  live: {
    live: 'Live',
    reading: 'Paused while you read',
    paused: 'Paused',
    connecting: 'Connecting',
    reconnecting: 'Reconnecting in {{seconds}} s',
    offline: 'Offline',
    background: 'Paused in the background',
    past: 'Past range',
  },
  username: 'Username',
  passwordLength: '8 to 128 characters',
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
  enableSelected: 'Enable selected',
  disableSelected: 'Disable selected',
  deleteSelected: 'Delete selected',
  enabledNamed: 'Enabled “{{name}}”',
  disabledNamed: 'Disabled “{{name}}”',
  saveChanges: 'Save changes',
  saved: 'Saved',
  basics: 'Basics',
  commonAmounts: 'Common amounts',
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

export const en: SharedTranslations = {
  ...entryTranslations,
  shared,
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
}
