import { describe, it } from 'vitest'
import { siteDecider } from '#domain/setup/decide.ts'
import type { SiteEvent } from '#domain/setup/events.ts'
import { codedError } from '#domain/shared/coded-error.ts'
import { specificationOf } from '#test/support/given-when-then.ts'

const { given } = specificationOf(siteDecider)

const MODE = { rootUserId: 1, isSelfUse: false, isDemoSite: false }
const initialized: SiteEvent = { type: 'SiteInitialized', v: 1, data: MODE }

describe('the first setup of a site', () => {
  it('is completed once and then refused, whoever the root user is', () => {
    given()
      .when({ type: 'InitializeSite', ...MODE })
      .then([initialized])
    for (const rootUserId of [1, 2]) {
      given(initialized)
        .when({ type: 'InitializeSite', ...MODE, rootUserId })
        .then(codedError('AlreadyInitialized'))
    }
  })
})
