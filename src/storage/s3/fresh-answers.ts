/**
 * Shares requests between callers who ask for the same. An answer is never older than its caller: a request under way
 * may have been answered before a change that the caller knows of, so all callers meanwhile share the next one.
 */
export class FreshAnswers<Answer> {
  readonly #ask: (key: string) => Promise<Answer>;
  readonly #underWay = new Map<string, { readonly answer: Promise<Answer>; next: Promise<Answer> | undefined }>();

  constructor(ask: (key: string) => Promise<Answer>) {
    this.#ask = ask;
  }

  of(key: string): Promise<Answer> {
    const question = this.#underWay.get(key);
    if (!question) return this.#begin(key);
    const begin = (): Promise<Answer> => this.#begin(key);
    question.next ??= question.answer.then(begin, begin);
    return question.next;
  }

  #begin(key: string): Promise<Answer> {
    // Before any caller goes on: later callers need a newer answer.
    const answer = this.#ask(key).finally(() => {
      if (this.#underWay.get(key) === question && !question.next) this.#underWay.delete(key);
    });
    const question = { answer, next: undefined };
    this.#underWay.set(key, question);
    return answer;
  }
}
