import type { AddressInfo } from 'node:net'
import { createServer, type Server } from 'node:net'
import { request } from 'undici'
import { afterEach, describe, expect, it } from 'vitest'
import type { Resolve } from '#infra/outbound/guarded-connector.ts'
import {
  createOutbound,
  MANAGEMENT_LIMITS,
  type Outbound,
} from '#infra/outbound/outbound-connections.ts'
import { checkUrl, operatorPolicy, userPolicy } from '#infra/outbound/outbound-policy.ts'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

/** Starts a server that counts its connections, which shows what the guard lets through. */
async function listener(host = '127.0.0.1'): Promise<{ port: number; reached: () => number }> {
  let reached = 0
  const server: Server = createServer((socket) => {
    reached += 1
    socket.on('error', () => {})
    socket.on('data', () =>
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok'),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  closers.push(() => new Promise((resolve) => server.close(resolve)))
  return { port: (server.address() as AddressInfo).port, reached: () => reached }
}

function outbound(policy: Parameters<typeof createOutbound>[0], resolve?: Resolve): Outbound {
  const made = createOutbound(policy, MANAGEMENT_LIMITS, resolve)
  closers.push(() => made.close())
  return made
}

const onLoopback = { port: 3000, isLoopback: true, privateUpstreams: [] }
const onNetwork = { port: 3000, isLoopback: false, privateUpstreams: [] }

const get = (made: Outbound, url: string) =>
  request(url, { dispatcher: made.dispatcher }).then(({ statusCode }) => statusCode)

describe('the loopback address', () => {
  it('is reachable while the server itself listens on loopback', async () => {
    const { port, reached } = await listener()
    expect(await get(outbound(operatorPolicy(onLoopback)), `http://127.0.0.1:${port}/`)).toBe(200)
    expect(reached()).toBe(1)
  })

  it.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '0.0.0.0',
    'localhost',
    '１２７.0.0.1',
  ])('spelled %s cannot be reached by a server on a network', async (host) => {
    const { port, reached } = await listener()
    await expect(
      get(outbound(operatorPolicy(onNetwork)), `http://${host}:${port}/`),
    ).rejects.toThrow()
    expect(reached()).toBe(0)
  })

  it('is reachable when the operator lists it, and only with the listed port', async () => {
    const listed = await listener()
    const other = await listener()
    const privateUpstreams = [{ cidr: '127.0.0.0/8', port: listed.port }]
    const made = outbound(operatorPolicy({ ...onNetwork, privateUpstreams }))
    expect(await get(made, `http://127.0.0.1:${listed.port}/`)).toBe(200)
    await expect(get(made, `http://127.0.0.1:${other.port}/`)).rejects.toThrow()
    expect([listed.reached(), other.reached()]).toEqual([1, 0])
  })

  it('cannot be reached through an address from a user', async () => {
    const { port, reached } = await listener()
    const anyPort = { ...userPolicy, isPortAllowed: () => true }
    await expect(get(outbound(anyPort), `http://127.0.0.1:${port}/`)).rejects.toThrow()
    expect(reached()).toBe(0)
  })
})

describe('host names', () => {
  it('are refused if one of their addresses is refused', async () => {
    const { port, reached } = await listener()
    const mixed: Resolve = (_name, callback) =>
      callback(null, [
        { address: '127.0.0.1', family: 4 },
        { address: '10.0.0.1', family: 4 },
      ])
    const made = outbound(operatorPolicy(onLoopback), mixed)
    await expect(get(made, `http://mixed.example:${port}/`)).rejects.toThrow()
    expect(reached()).toBe(0)
  })

  it('are checked again at every connection, whatever they resolved to before', async () => {
    const { port, reached } = await listener()
    let answers = 0
    const rebinding: Resolve = (_name, callback) => {
      answers += 1
      callback(null, [{ address: answers === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }])
    }
    const privateUpstreams = [{ cidr: '127.0.0.1', port: null }]
    const made = outbound(operatorPolicy({ ...onNetwork, privateUpstreams }), rebinding)
    expect(await get(made, `http://rebind.example:${port}/`)).toBe(200)
    await expect(get(made, `http://rebind.example:${port}/`)).rejects.toThrow()
    expect(reached()).toBe(1)
  })
})

describe('the operator policy', () => {
  const policy = operatorPolicy({
    ...onNetwork,
    privateUpstreams: [
      { cidr: '169.254.0.0/16', port: null },
      { cidr: 'fd00::/8', port: null },
    ],
  })

  it.each([
    ['10.1.2.3', false],
    ['100.64.0.1', false],
    ['172.31.255.255', false],
    ['192.168.1.1', false],
    ['224.0.0.1', false],
    ['255.255.255.255', false],
    ['::1', false],
    ['::', false],
    ['::7f00:1', false],
    ['64:ff9b::7f00:1', false],
    ['2002:7f00:1::', false],
    ['fe80::1', false],
    ['169.254.1.1', true],
    ['169.254.169.254', false],
    ['::ffff:169.254.169.254', false],
    ['fd00:ec2::254', false],
    ['fd12::1', true],
    ['8.8.8.8', true],
    ['::ffff:8.8.8.8', true],
    ['2606:4700::1', true],
    ['not an address', false],
  ])('allows %s: %s', (address, isAllowed) => {
    expect(policy.isAddressAllowed(address, 443)).toBe(isAllowed)
  })

  it('refuses the server’s own port', () => {
    expect(operatorPolicy(onLoopback).isAddressAllowed('127.0.0.1', 3000)).toBe(false)
    expect(operatorPolicy(onLoopback).isAddressAllowed('127.0.0.1', 3001)).toBe(true)
  })
})

describe('a URL', () => {
  it.each([
    ['nonsense', 'malformed'],
    ['file:///etc/passwd', 'scheme'],
    ['ftp://example.com', 'scheme'],
    ['https://user:secret@example.com', 'userinfo'],
    ['https://example.com:8443', 'port'],
    ['https://10.0.0.1', 'address'],
    ['http://[::1]/', 'address'],
  ])('%s from a user is refused for its %s', (text, error) => {
    expect(checkUrl(text, userPolicy)).toEqual({ isAllowed: false, error })
  })

  it.each([
    'http://169.254.169.254/latest',
    'http://2852039166/',
    'http://0xa9fea9fe/',
    'http://[fd00:ec2::254]/',
    'http://metadata.google.internal/v1',
    'http://METADATA.google.internal./v1',
    'http://localhost:8000',
    'http://LOCALHOST.:8000',
    'http://api.localhost:8000',
    'http://127.1:8000',
    'http://１２７.0.0.1:8000',
    'http://10.0.0.5:8000',
  ])('%s from an operator is refused unless it is listed', (text) => {
    const checked = checkUrl(text, operatorPolicy(onNetwork))
    expect(checked).toEqual({ isAllowed: false, error: 'address' })
  })

  it('to localhost is allowed while the server is on loopback, or if it is listed', () => {
    const privateUpstreams = [{ cidr: '127.0.0.1/32', port: 8000 }]
    const isAllowed = (text: string, config: Parameters<typeof operatorPolicy>[0]) =>
      checkUrl(text, operatorPolicy(config)).isAllowed
    expect(isAllowed('http://localhost:8000', onLoopback)).toBe(true)
    expect(isAllowed('http://localhost:8000', { ...onNetwork, privateUpstreams })).toBe(true)
    expect(isAllowed('http://localhost:8001', { ...onNetwork, privateUpstreams })).toBe(false)
    expect(isAllowed('http://localhost.example:8001', onNetwork)).toBe(true)
  })

  it('loses its trailing dot, which would be another name for the same host', () => {
    const checked = checkUrl('https://example.com./v1', userPolicy)
    expect(checked.isAllowed && checked.url.href).toBe('https://example.com/v1')
  })
})
