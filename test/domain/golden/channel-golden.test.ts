import { describe } from 'vitest'
import { channelsDecider } from '#domain/channels/decide.ts'
import type { ChannelTerms } from '#domain/channels/events.ts'
import { story } from './story.ts'

const TERMS: ChannelTerms = {
  name: 'first',
  type: 1,
  baseUrl: 'https://api.example.com',
  models: ['gpt-4o'],
  groups: ['default', 'vip'],
  priority: 10,
  weight: 3,
  tag: 'eu',
  isAutoBan: true,
  testModel: 'gpt-4o',
  organization: 'org-1',
  other: '',
  modelPrefix: 'eu-',
  maxInputTokens: 128_000,
  expiredTime: -1,
  maxConcurrency: 4,
  maxRpm: 60,
  modelMapping: '{"gpt-4o":"gpt-4o-2024-08-06"}',
  statusCodeMapping: '{"429":"503"}',
  setting: '{"proxy":"http://proxy.example.com:3128"}',
  paramOverride: '{"temperature":0}',
}
const PROXIED = { ...TERMS, setting: '{"proxy":"http://me:***@proxy.example.com:3128"}' }
const created = {
  type: 'CreateChannels',
  terms: TERMS,
  channels: [
    { channelId: 4, name: 'first', keyRefs: ['key-1'] },
    { channelId: 5, name: 'second', keyRefs: ['key-2'] },
  ],
  keyMode: '',
  isEnabled: true,
} as const
const last = {
  channelId: 5,
  terms: { ...TERMS, costRatio: '0.6', name: 'second', tag: 'us', models: ['gpt-4o', 'o3'] },
  keyRefs: ['key-3', 'key-4', 'key-5'],
  keyMode: 'polling',
  status: 'auto-disabled',
  setAside: [],
}

describe('the events of channels, as first recorded', () => {
  story(
    'the channels',
    channelsDecider,
    [
      ['channels-created-v1', created],
      [
        'channel-terms-changed-v1',
        {
          type: 'ChangeTerms',
          channelId: 5,
          change: { priority: 5 },
          keys: { refs: ['key-3', 'key-4', 'key-5'], isAppended: false },
          keyMode: 'polling',
        },
      ],
      [
        'channel-terms-changed-costed-v1',
        {
          type: 'ChangeTerms',
          channelId: 5,
          change: { costRatio: '0.60' },
          keys: null,
          keyMode: null,
        },
      ],
      ['channels-disabled-v1', { type: 'DisableTag', tag: 'eu' }],
      ['channels-enabled-v1', { type: 'EnableChannels', channelIds: [4, 5], now: 0 }],
      [
        'channel-key-set-aside-v1',
        {
          type: 'SetKeyAside',
          channelId: 5,
          keyRef: 'key-4',
          reason: 'status-401',
          substitutes: [],
        },
      ],
      ['channel-keys-taken-back-v1', { type: 'TakeBackKeys', channelId: 5, keyRefs: ['key-4'] }],
      [
        'channel-auto-disabled-v1',
        { type: 'AutoDisableChannel', channelId: 5, reason: '401', substitutes: [] },
      ],
      ['channels-tagged-v1', { type: 'TagChannels', channelIds: [4, 5], tag: 'asia' }],
      [
        'tag-terms-changed-v1',
        {
          type: 'ChangeTag',
          tag: 'asia',
          change: { tag: 'us', models: ['gpt-4o', 'o3'], priority: 10 },
        },
      ],
      [
        'channel-submissions-paused-v1',
        { type: 'PauseSubmissions', channelIds: [4, 5], pause: 'pause-1', now: 1_764_000_000_000 },
      ],
      [
        'channel-submissions-resumed-v1',
        {
          type: 'ResumeSubmissions',
          channelIds: [4, 5],
          pause: 'pause-1',
          neededAt: 1_764_000_001_000,
        },
      ],
      ['channel-abilities-fixed-v1', { type: 'FixAbilities' }],
      ['channels-deleted-v1', { type: 'DeleteChannels', channelIds: [4] }],
    ],
    { highestId: 5, channels: [last] },
  )

  const plain = { keyMode: '', status: 'enabled', setAside: [] }
  story(
    'the channels by proxies with a login',
    channelsDecider,
    [
      [
        'channels-created-proxied-v1',
        {
          ...created,
          terms: PROXIED,
          channels: created.channels.map((one, at) => ({ ...one, proxyRef: `proxy-${at + 1}` })),
        },
      ],
      [
        'channel-terms-changed-proxied-v1',
        {
          type: 'ChangeTerms',
          channelId: 5,
          change: { proxyRef: 'proxy-3' },
          keys: { refs: ['key-3'], isAppended: false },
          keyMode: null,
        },
      ],
    ],
    {
      highestId: 5,
      channels: [
        {
          ...plain,
          channelId: 4,
          terms: { ...PROXIED, proxyRef: 'proxy-1' },
          keyRefs: ['key-1'],
        },
        {
          ...plain,
          channelId: 5,
          terms: { ...PROXIED, name: 'second', proxyRef: 'proxy-3' },
          keyRefs: ['key-3'],
        },
      ],
    },
  )
})
