import { describe, expect, it } from 'vitest'
import { loginPath, safeReturnPath } from '#console/api/auth/login-return-path.ts'

const ORIGIN = 'https://gate.example'
const isKnown = (path: string) => path.startsWith('/app/')

describe('the path to which a login returns', () => {
  it('is a page of this site', () => {
    const path = '/app/logs/api-usage?p=2#row'
    expect(safeReturnPath(path, ORIGIN, isKnown)).toBe(path)
  })

  it.each([
    null,
    '',
    'https://evil.example/app/tokens',
    '//evil.example/app/x',
    '/\\evil.example/app/x',
    '/\t/evil.example',
    'javascript:alert(1)',
    '/nowhere',
    '/app/\u0000',
    'app/tokens',
  ])('is the tokens page instead of %j', (value) => {
    expect(safeReturnPath(value, ORIGIN, isKnown)).toBe('/app/tokens')
  })

  it('is never the login page itself', () => {
    expect(loginPath('/login?expired=true', { isExpired: true })).toBe('/login?expired=true')
    expect(loginPath('/app/x?a=1&b=2', { isExpired: false })).toBe(
      '/login?returnTo=%2Fapp%2Fx%3Fa%3D1%26b%3D2',
    )
  })
})
