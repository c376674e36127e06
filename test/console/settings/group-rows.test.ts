import { describe, expect, it } from 'vitest'
import {
  emptyGroup,
  type GroupMaps,
  groupRows,
  readGroupMaps,
  readRatioOverrides,
  validateGroup,
  withGroup,
  withoutGroup,
} from '#console/features/settings/group-rows.ts'

const TEXTS: Record<string, string> = {
  GroupRatio: '{"default":1,"vip":0.80,"constructor":2}',
  UserUsableGroups: '{"default":"Default","vip":"V \\"I\\" P"}',
  GroupGroupRatio: '{"vip":{"default":0.90},"default":{"vip":2}}',
  GroupColors: '{"vip":"purple"}',
}
const maps = (texts = TEXTS): GroupMaps => {
  const read = readGroupMaps((key) => texts[key] ?? '{}')
  if (read === null) throw new Error('no maps')
  return read
}

describe('the table of groups', () => {
  it('shows each ratio digit by digit, and the values of the other options', () => {
    expect(groupRows(maps())[1]).toEqual({
      name: 'vip',
      ratio: '0.80',
      description: 'V "I" P',
      isUsable: true,
      color: 'purple',
      ratioOverrides: new Map([['default', '0.90']]),
    })
    expect(groupRows(maps())[2]).toMatchObject({ name: 'constructor', isUsable: false, color: '' })
  })

  it('changes only the options whose value differs', () => {
    const [, vip] = groupRows(maps())
    if (vip === undefined) throw new Error('no vip')
    expect(withGroup(maps(), vip)).toEqual(new Map())
    expect([...withGroup(maps(), { ...vip, ratio: '0.7' }).keys()]).toEqual(['GroupRatio'])
    const closed = withGroup(maps(), {
      ...vip,
      isUsable: false,
      color: '',
      ratioOverrides: new Map(),
    })
    expect([...closed].map(([key, text]) => [key, JSON.parse(text)])).toEqual([
      ['UserUsableGroups', { default: 'Default' }],
      ['GroupGroupRatio', { default: { vip: 2 } }],
      ['GroupColors', {}],
    ])
  })

  it('removes a group completely, including what other groups pay in it', () => {
    const texts = withoutGroup(maps(), 'vip')
    expect(JSON.parse(texts.get('GroupGroupRatio') ?? '')).toEqual({})
    expect(JSON.parse(texts.get('GroupColors') ?? '')).toEqual({})
    expect(JSON.parse(texts.get('GroupRatio') ?? '')).toEqual({ default: 1, constructor: 2 })
  })

  it.each([
    ['GroupRatio', '{"default":'],
    ['GroupRatio', '{"default":"1"}'],
    ['GroupGroupRatio', '{"vip":1}'],
    ['GroupGroupRatio', '{"vip":{"default":"1"}}'],
    ['GroupGroupRatio', '[]'],
    ['GroupColors', '{"vip":1}'],
  ])('cannot be read when %s is %s', (key, text) => {
    expect(readGroupMaps((name) => (name === key ? text : (TEXTS[name] ?? '{}')))).toBeNull()
  })
})

describe('special ratios typed as lines', () => {
  const groups = new Set(['default', 'vip', 'a=b'])

  it('are read exactly, with each group at most once', () => {
    expect(readRatioOverrides('default=0.90\n\n a=b = 1 ', groups)).toEqual(
      new Map([
        ['default', '0.90'],
        ['a=b', '1'],
      ]),
    )
    for (const text of ['default', '=1', 'nobody=1', 'vip=-1', 'vip=x', 'vip=1\nvip=2']) {
      expect(readRatioOverrides(text, groups), text).toBeNull()
    }
  })

  it('cause a form error when they are invalid, as does a duplicate name', () => {
    const draft = { ...emptyGroup, name: 'vip', ratio: '', ratioOverrides: 'x' }
    expect(validateGroup(draft, ['vip'], true)).toEqual({
      name: 'nameTaken',
      ratio: 'notNumber',
      ratioOverrides: 'ratioOverrides',
    })
    expect(validateGroup({ ...emptyGroup, name: 'vip' }, ['vip'], false)).toEqual({})
  })
})
