import { catchError, combineLatest, concat, debounceTime, EMPTY, filter, firstValueFrom, from, groupBy, interval, lastValueFrom, map, mergeMap, of, reduce, scan, Subject, switchMap, take, throwError, timer, toArray, zip } from "rxjs";

export default async function () {
  const subject = new Subject();
  const heard = [];
  subject.pipe(scan((sum, n) => sum + n, 0), filter(n => n % 2)).subscribe({ next: n => heard.push(n), complete: () => heard.push("done") });
  for (const n of [1, 2, 4]) subject.next(n);
  subject.complete();
  const all = stream => lastValueFrom(stream.pipe(toArray()));
  return [
    heard, await all(interval(1).pipe(take(3))), await all(of(1, 2, 3).pipe(mergeMap(n => timer(50 - 15 * n).pipe(map(() => n))))), await firstValueFrom(throwError(() => new Error("é")).pipe(catchError(error => of(error.message)))), await all(concat(of(1), from([2, 3]), EMPTY)),
    await all(combineLatest([of(1, 2), of("a")])), await all(zip(of(1, 2), of("a", "b"))), await all(of("x", "yy", "z").pipe(groupBy(t => t.length), mergeMap(group => group.pipe(reduce((list, t) => [...list, t], []))))), await firstValueFrom(EMPTY).catch(error => [error.name, error.message]), await all(of(1, 2).pipe(debounceTime(1), switchMap(n => of(n * 10)))),
  ];
}
