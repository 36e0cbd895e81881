// What the service responds with: which fields have to be there, and which may be anything.
import { describe, expect, test } from '@jest/globals'
import { errorSchema, jobSchema } from '../../src/agent/schemas.js'

const ODD = [undefined, null, 5, true, [], {}, ['job-1']]

describe('a job [send.job.required]', () => {
  const JOB = { id: 'job-1', status: 'active' }
  const read = (value: unknown) => jobSchema.safeParse(value).data

  test('needs an id and a status that are texts, and the id has to be safe to pass on', () => {
    expect(read(JOB)).toEqual(JOB)
    expect(read({ ...JOB, status: '' })).toEqual({ ...JOB, status: '' })
    for (const odd of ODD) {
      expect(read({ ...JOB, id: odd })).toBeUndefined()
      expect(read({ ...JOB, status: odd })).toBeUndefined()
      expect(read(odd)).toBeUndefined()
    }
    expect(read({ ...JOB, id: '..' })).toBeUndefined()
  })

  test('may have any link and any date: what is no text is told as a link that was dropped', () => {
    expect(read({ ...JOB, prLink: 'javascript:' })).toEqual({ ...JOB, prLink: 'javascript:' })
    for (const odd of ODD.slice(1)) {
      expect(read({ ...JOB, prLink: odd })).toEqual({
        ...JOB,
        prLink: odd === null ? null : 'no text',
      })
      expect(read({ ...JOB, archivedAt: odd })).toEqual({ ...JOB, archivedAt: odd })
    }
  })

  test('keeps apart what is null and what is not there, and leaves out what it does not know', () => {
    expect(Object.keys(read({ ...JOB, archivedAt: null }) ?? {})).toEqual([
      ...Object.keys(JOB),
      'archivedAt',
    ])
    const more = '{"id":"job-1","status":"active","source":null,"__proto__":{"prLink":"a"}}'
    expect(read(JSON.parse(more))).toEqual(JOB)
    expect(read(JSON.parse('{"__proto__":{"id":"job-1","status":"active"}}'))).toBeUndefined()
  })
})

describe('an error [send.refused.final]', () => {
  test.each<[unknown, error: string, message: string]>([
    [{ error: 'No.', message: 'Why.', code: 7 }, 'No.', 'Why.'],
    [{ message: 'Forbidden' }, '', 'Forbidden'],
    [{ error: { message: 'No.' } }, '', ''],
    ...ODD.map((odd): [unknown, string, string] => [odd, '', '']),
    ...ODD.map((odd): [unknown, string, string] => [{ error: odd, message: 'Why.' }, '', 'Why.']),
  ])('in %j has these words', (body, error, message) => {
    expect(errorSchema.parse(body)).toEqual({ error, message })
  })
})
