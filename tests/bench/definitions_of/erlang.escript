#!/usr/bin/env escript
%% Prints the definitions of Erlang, found by epp_dodger: path, line, name. Paths are read from standard input.
main(_) -> loop().

loop() ->
    case io:get_line("") of
        eof -> ok;
        Line -> of_path(string:trim(Line)), loop()
    end.

of_path(Path) ->
    case epp_dodger:parse_file(Path) of
        {ok, Forms} ->
            case lists:any(fun(F) -> erl_syntax:type(F) =:= error_marker end, Forms) of
                true -> ok;
                false ->
                    io:format("~s\t0\t~n", [Path]),
                    [catch form(Path, F) || F <- Forms]
            end;
        _ -> ok
    end.

tell(Path, Node, Name) ->
    io:format("~ts\t~p\t~ts~n", [Path, line(erl_syntax:get_pos(Node)), text(Name)]).
line({L, _}) -> L;
line(L) when is_integer(L) -> L;
line(A) -> erl_anno:line(A).
text(A) when is_atom(A) -> atom_to_list(A);
text(L) -> L.
name(Node) ->
    case erl_syntax:type(Node) of
        atom -> erl_syntax:atom_value(Node);
        variable -> erl_syntax:variable_name(Node);
        application -> name(erl_syntax:application_operator(Node));
        record_field -> name(erl_syntax:record_field_name(Node));
        typed_record_field -> name(erl_syntax:typed_record_field_body(Node));
        tuple -> name(hd(erl_syntax:tuple_elements(Node)));
        annotated_type -> name(erl_syntax:annotated_type_name(Node));
        user_type_application -> name(erl_syntax:user_type_application_name(Node));
        type_application -> name(erl_syntax:type_application_name(Node));
        _ -> throw({unknown, erl_syntax:type(Node)})
    end.

form(Path, Form) ->
    case erl_syntax:type(Form) of
        function -> tell(Path, Form, name(erl_syntax:function_name(Form)));
        attribute -> attribute(Path, Form, name(erl_syntax:attribute_name(Form)), erl_syntax:attribute_arguments(Form));
        _ -> ok
    end.

attribute(Path, Form, module, [N | _]) -> tell(Path, Form, name(N));
attribute(Path, Form, define, [N | _]) -> tell(Path, Form, name(N));
attribute(Path, Form, record, [N, Fields]) ->
    tell(Path, Form, name(N)),
    [tell(Path, F, name(F)) || F <- erl_syntax:tuple_elements(Fields)];
attribute(Path, Form, Type, [A | _]) when Type =:= type; Type =:= opaque -> tell(Path, Form, name(A));
attribute(Path, Form, callback, [A | _]) -> tell(Path, Form, name(A));
attribute(_, _, _, _) -> ok.
